"""The notebook for analysts: it is one, and its cells run in their order on the demo history."""

import ast
import json
import os
import pathlib
import subprocess
import unittest

from token_tool import missing, rerun
from urd_process import BINARY, PATIENCE, Urd, eventually

MISSING = missing("nbformat", "pandas", "sqlalchemy", "psycopg2")
if not MISSING:
    import nbformat

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "notebooks/login-history.ipynb"
REALM = "history"


def setUpModule():
    global urd, address
    urd = Urd("--demo-history")
    address = documented()
    for view in ("login_history", "credentials"):
        eventually(lambda: urd.sql(
            f"select min(position) from urd.{view}_position where realm = '{REALM}'")
            == urd.sql(f"select position from urd.realm_log where realm = '{REALM}'"), view)
    eventually(lambda: urd.sql(
        f"select count(*) from urd.findings where realm = '{REALM}' and rule = 'credential_stuffing'")
        == "1", "the attacks are found")


def documented():
    """The address that the notebook's own first lines make."""
    lines = json.loads(NOTEBOOK.read_text())["cells"][0]["source"]
    script = "".join(line for line in lines if line.startswith("    "))
    done = subprocess.run(
        ["bash", "-ec", script + 'echo "$URD_ANALYST_URL"'], cwd=urd.folder, check=True,
        capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, **urd.values, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"})
    return done.stdout.strip()


def tearDownModule():
    urd.close()


def run(cell, names):
    """What a cell says: the value of its last line."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


class Notebook(unittest.TestCase):
    def test_it_is_a_notebook_without_results(self):
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self.assertEqual((cell.outputs, cell.execution_count), ([], None))

    def test_its_cells_run_in_their_order(self):
        os.environ["URD_ANALYST_URL"] = address
        self.addCleanup(os.environ.pop, "URD_ANALYST_URL")
        names, results = {}, []
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
            if cell.cell_type == "code":
                results.append(run(cell.source, names))
        names["engine"].dispose()
        self.assertTrue(all(len(result) > 0 for result in results), [len(r) for r in results])
        self.assertGreater(results[0]["events"].iloc[0], 20_000)
        # The attacks of the demo history.
        self.assertTrue((names["networks"]["accounts"] >= 150).any())
        self.assertTrue((names["attacked"]["networks"] >= 8).any())
        self.assertIn("credential_stuffing", set(names["findings"]["rule"]))
        self.assertIn("CH", names["countries"].index)
        self.assertEqual(set(results[-1]["outcome"]), {"signed_in", "refused"})


def load_tests(loader, standard, pattern):
    return rerun(__file__) if MISSING else standard


if __name__ == "__main__":
    unittest.main()
