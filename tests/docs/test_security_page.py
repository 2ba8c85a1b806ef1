"""docs/security.md is true: each of its rows is held by tests, which are named here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from qps.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")

NOT_LOOKED_FOR = "test_a_project_file_is_not_looked_for_above_a_repository_or_where_anybody_writes"

HELD_BY = {
    "Specs and modules": [
        "robustness/test_robustness.py::test_no_text_raises",
        "robustness/test_robustness.py::test_hostile_specs_end_soon_and_in_words",
        "robustness/test_robustness.py::test_a_file_that_is_too_long_is_reported_where_why_and_what_helps",
        "robustness/test_robustness.py::test_what_is_nested_too_deep_is_reported_where_nobody_checks_it",
        "robustness/test_robustness.py::test_control_characters_do_not_reach_a_terminal",
        "robustness/test_robustness.py::test_links_out_of_the_folder_are_not_followed",
        "robustness/test_links.py::test_a_link_out_of_the_tree_is_refused_and_quoted_nowhere",
        "robustness/test_links.py::test_a_folder_that_is_a_link_out_of_the_tree_is_refused",
        "robustness/test_links.py::test_links_within_a_project_or_repository_are_followed",
    ],
    "Tables and recordings": [
        "docs/test_security_page.py::test_a_table_has_a_size",
        "measurement/test_traces.py::test_a_bad_file_is_reported_with_its_line",
        "measurement/test_traces.py::test_what_is_no_file_is_reported",
    ],
    "Repositories": [
        "robustness/test_git_guards.py::test_no_option_of_a_repository_runs_a_program",
        "robustness/test_git_reading.py::test_a_repository_among_the_specs_is_none",
        "robustness/test_git_guards.py::test_git_is_started_at_one_place",
        "review/test_ci_command.py::test_the_base_has_its_own_modules_links_and_attributes",
    ],
    "Project files": [
        "review/test_project.py::test_nothing_above_a_project_is_read_and_no_link_leads_out",
        f"review/test_project.py::{NOT_LOOKED_FOR}",
        "robustness/test_links.py::test_a_project_file_that_is_a_link_out_of_the_tree_is_refused",
    ],
    "Result files from others": [
        "matrices/test_matrix_results.py::test_files_that_are_no_result",
        "matrices/test_matrix_results.py::test_files_that_are_not_there_or_too_large",
        "matrices/test_matrix_results.py::test_the_request_in_a_file_is_not_trusted",
    ],
    "Servers": [
        "robustness/test_http_exchange.py::test_a_server_without_end_is_given_up",
        "robustness/test_http_exchange.py::test_a_status_page_without_end_is_given_up",
        "robustness/test_http_exchange.py::test_a_handshake_without_end_is_given_up",
        "robustness/test_http_exchange.py::test_a_name_that_is_never_found_is_given_up",
        "robustness/test_http_exchange.py::test_nobody_is_sent_anything_by_a_redirection",
        "robustness/test_http_exchange.py::test_a_proxy_of_the_environment_is_never_used_for_this_machine",
        "robustness/test_http_exchange.py::test_a_proxy_of_the_environment_sees_nothing_of_what_goes_over_tls",
        "observations/test_observe_prometheus.py::test_answers_are_bounded",
        "observations/test_observe_prometheus.py::test_what_a_server_says_drives_no_terminal",
        "observations/test_observe_prometheus.py::test_credentials_come_from_the_environment_alone",
    ],
    "Measured programs": [
        "robustness/test_supervision.py::test_nothing_is_left_behind_where_it_is_killed",
        "robustness/test_supervision.py::test_a_generator_that_prints_without_end_is_stopped",
        "robustness/test_supervision.py::test_a_command_that_prints_counts_without_end_is_stopped",
        "robustness/test_supervision.py::test_of_a_server_that_prints_for_long_the_end_is_shown",
    ],
    "Names in results": [
        "robustness/test_output.py::test_no_text_drives_the_screen",
        "robustness/test_output.py::test_json_files_are_escaped",
        "pages/test_reports.py::test_texts_of_a_spec_are_escaped",
        "pages/test_reports.py::test_names_are_typeset_as_they_are",
        "review/test_history.py::test_pictures_hold_no_text_of_a_stranger_as_it_is",
        "review/test_ci_formats.py::test_texts_of_a_spec_call_nobody_and_link_nothing_in_markdown",
        "review/test_action.py::test_what_strangers_write_gives_no_commands",
        "review/test_ci_command.py::test_whatever_is_found_a_comment_and_annotations_are_bounded",
    ],
    "Exported tables": [
        "robustness/test_sheet_cells.py::test_what_may_be_run_stands_behind_an_apostrophe",
        "robustness/test_sheet_cells.py::test_no_writer_lets_a_name_be_run",
        "robustness/test_sheet_cells.py::test_these_are_all_that_write",
    ],
    "Pages": [
        "pages/test_reports.py::test_the_page_loads_nothing_and_runs_its_own_script_only",
        "pages/test_reports.py::test_data_in_a_page_cannot_end_its_element",
        "pages/test_page_state.py::test_a_link_that_does_not_fit_is_reported_and_sets_nothing",
    ],
    "Playground": [
        "pages/test_playground.py::test_a_hostile_text_is_a_text",
        "pages/test_playground_frame.py::test_nothing_is_written_into_an_origin_that_is_not_opaque",
        "pages/test_playground_frame.py::test_nothing_is_written_where_it_is_opened_by_itself",
    ],
    "Cache": [
        "commands/cache/test_cache_files.py::test_what_others_may_have_written_is_not_read",
        "commands/cache/test_cache_files.py::test_what_is_damaged_is_made_again",
        "commands/cache/test_cache_invalidation.py::test_one_byte_of_what_took_part_makes_it_anew",
        "robustness/test_stored_values.py::test_any_bytes_give_a_value_or_are_refused",
        "robustness/test_stored_values.py::test_only_what_is_of_our_own_processes_is_unpickled",
    ],
    "Editors": [
        "robustness/test_bad_requests.py::test_no_request_is_a_fault",
        "robustness/test_background.py::test_each_is_answered_or_the_reason_is_reported",
        "editing/test_lsp.py::test_a_process_that_dies_is_reported_and_the_next_one_answers",
    ],
    "Open ports": [
        "pages/test_serve.py::test_it_listens_on_the_loopback_address_alone",
        "pages/test_serve.py::test_a_name_that_only_leads_here_gets_nothing",
        "pages/test_serve.py::test_nothing_else_is_served",
    ],
    "Package names": [
        "docs/test_installing.py::test_nothing_says_to_install_a_name_that_is_not_ours",
    ],
    # Of what is trusted, what the page says of it all the same.
    "The command line": ["robustness/test_git_guards.py::test_git_is_started_at_one_place"],
    "The environment": [
        "robustness/test_git_guards.py::test_no_variable_of_the_environment_changes_what_git_does"
    ],
    "A Dask cluster": [
        "matrices/test_matrix_workers.py::test_a_worker_with_another_qps_is_refused"
    ],
    "Python and the installed packages": [],
    "A folder that you trust in an editor": [],
    "People who can merge": [],
}
GIT = [
    "test_all_options_of_git_that_name_programs_are_tried",
    "test_no_variable_of_the_environment_changes_what_git_does",
    "test_the_repository_is_that_of_where_one_works",
    "test_what_another_repository_has_is_not_read",
    "test_git_is_ended_where_it_waits",
    "test_trees_that_list_more_than_memory_holds_are_refused",
    "test_git_is_never_taken_from_where_one_works",
    "test_only_what_is_safe_is_taken_of_the_own_configuration",
    "test_what_is_missing_is_fetched_by_nobody",
    "test_an_empty_repository_is_read_for_objects_alone",
]


def named_in(file: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_each_row_is_held_by_tests() -> None:
    assert re.findall(r"^\| \*\*(.+?)\*\*", PAGE, re.MULTILINE) == list(HELD_BY)


@pytest.mark.parametrize("row", HELD_BY)
def test_the_tests_of_a_row_are_there(row: str) -> None:
    for named in HELD_BY[row]:
        file, _, name = named.partition("::")
        assert name in named_in(file), named


def test_the_guards_of_git_are_tested() -> None:
    files = ("robustness/test_git_guards.py", "robustness/test_git_reading.py")
    assert set(GIT) <= set().union(*map(named_in, files))


def test_who_may_start_programs_and_open_connections_is_as_the_page_says() -> None:
    """Whoever starts a program or opens a connection anywhere else must say so on that page."""
    starting = re.compile(
        r"\bimport subprocess\b|\bmultiprocessing import .*\bget_context\b"
        r"|\bos\.(?:posix_spawn|exec|spawn|system|popen)\w*\("
    )
    query = re.compile(r"\burlopen\b|\bHTTPS?Connection\(|\bcreate_connection\(|\.connect\(\(")
    starts, asks = set(), set()
    rooms = "compiler editing engine reports reviewing simulation solver"
    folders = [ROOT / name for name in rooms.split()]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    files += [*(ROOT / "src" / "qps").glob("*.py"), *(ROOT / "src/qps/commands").glob("*.py")]
    for path in files:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        starts |= {name} if starting.search(text) else set()
        asks |= {name} if query.search(text) else set()
    assert starts == {  # programs, and processes of Python
        "compiler/measurement/campaigns/supervision.py",
        "compiler/measurement/campaigns/supervisor.py",
        "src/qps/supervised_processes.py",
        "src/qps/worker_processes.py",
    }
    assert asks == {"src/qps/http_exchange.py"}


def test_a_table_has_a_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.csv").write_text("request/s,cpu in %\n" + "1,2\n" * 2_100_000)
    (tmp_path / "site.qps").write_text(
        "users N in 1..9\nmachine m { cpu 1 core }\n"
        'component a { cpu fit "long.csv" measured on m }\ntopology { node web = m }\n'
        "stream s { traffic N * 1 request/s; at web { a } }\n"
    )
    assert main(["check", str(tmp_path / "site.qps")]) == 2
    assert "`long.csv` is larger than" in capsys.readouterr().err


def test_it_is_found_from_where_people_look() -> None:
    assert "docs/security.md" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "../SECURITY.md" in PAGE
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/security.md" in readme
    assert "SECURITY.md" in readme
