// What places are loaded with at the answer, behind their lines, until the text changes.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";

const setLoads = StateEffect.define();

class Load extends WidgetType {
  constructor({ label, tooltip }) {
    super();
    this.label = label;
    this.tooltip = tooltip;
  }

  eq(other) {
    return other.label === this.label && other.tooltip === this.tooltip;
  }

  toDOM() {
    const made = document.createElement("span");
    made.className = "load";
    made.textContent = this.label;
    made.title = this.tooltip;
    return made;
  }
}

export const loads = StateField.define({
  create: () => Decoration.none,
  update(found, transaction) {
    let now = found.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setLoads)) now = effect.value;
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function showLoads(editor, found) {
  const marks = found.map((one) => Decoration.widget({ widget: new Load(one), side: 1 }).range(one.from));
  editor.dispatch({ effects: setLoads.of(Decoration.set(marks, true)) });
}
