// What places are loaded with at the answer, behind their lines, until the text changes.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";

const told = StateEffect.define();

class Load extends WidgetType {
  constructor({ label, told: more }) {
    super();
    this.label = label;
    this.more = more;
  }

  eq(other) {
    return other.label === this.label && other.more === this.more;
  }

  toDOM() {
    const made = document.createElement("span");
    made.className = "load";
    made.textContent = this.label;
    made.title = this.more;
    return made;
  }
}

export const loads = StateField.define({
  create: () => Decoration.none,
  update(found, transaction) {
    let now = found.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(told)) now = effect.value;
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function showLoads(editor, found) {
  const marks = found.map((one) => Decoration.widget({ widget: new Load(one), side: 1 }).range(one.from));
  editor.dispatch({ effects: told.of(Decoration.set(marks, true)) });
}
