"""The projects that languages are judged by are data: their own tests are not run."""

collect_ignore_glob = ["*/project/*"]
