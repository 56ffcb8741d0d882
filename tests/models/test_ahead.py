"""A process that ends while a model is still being loaded ends as usual."""

from __future__ import annotations

import subprocess
import sys

import pytest

JUDGE = "from weft.models.answer_judge import BuiltinJudge; BuiltinJudge().begin()"
EMBEDDER = "from weft.models.builtin import BuiltinEmbedder; from weft.models.ahead import begin_ahead; \
begin_ahead(BuiltinEmbedder().embed, ['a question'])"


@pytest.mark.parametrize("begun", [JUDGE, EMBEDDER], ids=["answer judge", "embedder"])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.2, 0.3])
def test_a_process_may_end_while_a_model_is_loaded(begun: str, seconds: float) -> None:
    code = f"import time; {begun}; time.sleep({seconds}); print('answered')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "answered\n", "")
