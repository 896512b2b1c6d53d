"""A fresh Python, to see what code loads: the process of the tests has loaded everything."""

import subprocess
import sys
import textwrap

from browser import ROOT


def modules_after(code):
    """Names of the modules that are loaded once this code has run."""
    program = f"{textwrap.dedent(code)}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())
