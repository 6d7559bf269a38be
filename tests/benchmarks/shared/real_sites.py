"""Real sites that other people wrote, served on loopback: documentation, an admin, a data browser, an API explorer,
tasks.

Packages come from the package index into an environment of their own; the documentation is Debian's.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.sites.server import Site

PACKAGES = ("django", "datasette", "swagger-ui-bundle")
ALONE = ("miniwob==1.1.0",)
"""Installed without its dependencies: only its pages are used."""

DOCS = {"python": Path("/usr/share/doc/python3/html"), "git": Path("/usr/share/doc/git/html")}
"""Debian's python3-doc and git-doc."""
SITES_FOLDER = Path(tempfile.gettempdir()) / "ctxfold-benchmark-sites"
"""Where the sites' environment is kept from one run to the next."""

_EPISODE = "() => { core.EPISODE_MAX_TIME = 3600000; Math.seedrandom('7'); core.startEpisodeReal() }"
_USERS = 150
_ROWS = 2_000
_STARTS = 60.0


@dataclass(frozen=True)
class RealPage:
    """A page: `click` names the control to click (None: the first link of its main part), `script` starts the page."""

    name: str
    url: str
    click: str | None = None
    script: str | None = None


def make_environment(folder: Path) -> Path:
    """Make an environment with the sites' packages, once. Returns its Python."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", *ALONE], check=True)
    return python


@contextlib.contextmanager
def serve_sites(folder: Path) -> Iterator[list[RealPage]]:
    """Serve every site for the length of the block. Yields the pages."""
    python = make_environment(folder)
    packages = next((folder / "venv" / "lib").iterdir()) / "site-packages"
    with contextlib.ExitStack() as stack:
        served = {name: stack.enter_context(Site(path)).url for name, path in DOCS.items() if path.is_dir()}
        found = [
            RealPage(name, f"{served[site]}/{path}")
            for site, name, path in (
                ("python", "python functions.html", "library/functions.html"),
                ("python", "python genindex.html", "genindex.html"),
                ("python", "python sqlite3.html", "library/sqlite3.html"),
                ("git", "git-config.html", "git-config.html"),
            )
            if site in served
        ]
        admin = stack.enter_context(_serve_django(python, folder))
        data = stack.enter_context(_serve_datasette(python, folder))
        api = stack.enter_context(Site(_write_swagger(packages, folder))).url
        tasks = stack.enter_context(Site(packages / "miniwob" / "html")).url
        yield [
            *found,
            RealPage("Django admin, 150 users", f"{admin}/admin/auth/user/", "person003"),
            RealPage("Django admin, a form", f"{admin}/admin/auth/user/1/change/", "History"),
            RealPage("Datasette, 2,000 rows", f"{data}/stock/boxes", "city"),
            RealPage("Swagger UI", f"{api}/index.html", "get /boxes/{id}"),
            *(
                RealPage(f"MiniWoB {task}", f"{tasks}/miniwob/{task}.html", click, _EPISODE)
                for task, click in (("email-inbox", None), ("book-flight", "Search"), ("login-user", "Login"))
            ),
        ]


@contextlib.contextmanager
def _run_server(command: list[str | Path], url: str, folder: Path, **environment_: str) -> Iterator[str]:
    """Run a server for the length of the block. Yields its address once it answers."""
    with (folder / "sites.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **environment_})
        try:
            deadline = time.monotonic() + _STARTS
            while True:
                with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
                    break
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[1]} does not answer; see {folder / 'sites.log'}")
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait(10)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


_SETTINGS = """\
import os
SECRET_KEY = 'for a benchmark on loopback'
DEBUG = True
ALLOWED_HOSTS = ['127.0.0.1']
ROOT_URLCONF = 'benchsite'
APPS = ('admin', 'auth', 'contenttypes', 'sessions', 'messages', 'staticfiles')
INSTALLED_APPS = ['django.contrib.' + name for name in APPS]
MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware',
              'django.contrib.auth.middleware.AuthenticationMiddleware', 'benchsite.everybody_is_admin',
              'django.contrib.messages.middleware.MessageMiddleware']
PROCESSORS = ['django.template.context_processors.request', 'django.contrib.auth.context_processors.auth',
              'django.contrib.messages.context_processors.messages']
TEMPLATES = [{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True,
              'OPTIONS': {'context_processors': PROCESSORS}}]
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3',
                         'NAME': os.path.join(os.path.dirname(__file__), 'bench.sqlite3')}}
STATIC_URL = '/static/'
USE_TZ = True
DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
"""

_SITE = """\
from django.contrib import admin
from django.urls import path

def everybody_is_admin(get_response):
    def answer(request):
        from django.contrib.auth.models import User
        request.user = User.objects.get(username='admin')
        return get_response(request)
    return answer

urlpatterns = [path('admin/', admin.site.urls)]
"""

_FILL = """\
import django
django.setup()
from django.core.management import call_command
call_command('migrate', verbosity=0)
from django.contrib.auth.models import User
if not User.objects.exists():
    User.objects.create_superuser('admin', 'admin@example.org', 'admin')
    User.objects.bulk_create(User(username=f'person{n:03}', email=f'person{n:03}@example.org', first_name=f'First{n}',
                                  last_name=f'Last{n}', password='!') for n in range(1, %d))
"""


@contextlib.contextmanager
def _serve_django(python: Path, folder: Path) -> Iterator[str]:
    (folder / "benchsettings.py").write_text(_SETTINGS)
    (folder / "benchsite.py").write_text(_SITE)
    names = {"DJANGO_SETTINGS_MODULE": "benchsettings", "PYTHONPATH": str(folder)}
    subprocess.run([python, "-c", _FILL % _USERS], cwd=folder, env={**os.environ, **names}, check=True)
    port = _free_port()
    command: list[str | Path] = [python, "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with _run_server(command, f"http://127.0.0.1:{port}/admin/", folder, **names):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def _serve_datasette(python: Path, folder: Path) -> Iterator[str]:
    file = folder / "stock.db"
    if not file.exists():
        with contextlib.closing(sqlite3.connect(file)) as base:
            base.execute("create table boxes (id integer primary key, name text, city text, weight real, made text)")
            rows = (
                (n, f"Box {n}", ("Berlin", "Lyon", "Madrid")[n % 3], n * 0.25, f"19{n % 100:02}")
                for n in range(1, _ROWS + 1)
            )
            base.executemany("insert into boxes values (?, ?, ?, ?, ?)", rows)
            base.commit()
    port = _free_port()
    command: list[str | Path] = [python, "-m", "datasette", "serve", file, "--port", str(port)]
    with _run_server(command, f"http://127.0.0.1:{port}/", folder):
        yield f"http://127.0.0.1:{port}"


def _write_swagger(packages: Path, folder: Path) -> Path:
    """Copy Swagger UI's own files, pointed at an API of ours. Returns their folder."""
    source = next((packages / "swagger_ui_bundle" / "vendor").iterdir())
    target = folder / "swagger"
    target.mkdir(exist_ok=True)
    for file in source.iterdir():
        if file.suffix != ".map":
            (target / file.name).write_bytes(file.read_bytes())
    start = "window.onload = () => { window.ui = SwaggerUIBundle({ url: 'api.json', dom_id: '#swagger-ui' }); };"
    (target / "swagger-initializer.js").write_text(start)
    (target / "api.json").write_text(json.dumps(_describe_api()))
    return target


def _describe_api() -> dict[str, object]:
    done = {"200": {"description": "Done"}}
    by_id = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    paths: dict[str, object] = {}
    for thing in ("boxes", "lids", "shelves", "orders"):
        named = {"get": f"All {thing}", "post": f"Add to {thing}"}
        paths[f"/{thing}"] = {v: {"summary": s, "tags": ["boxes"], "responses": done} for v, s in named.items()}
        one = {"tags": ["boxes"], "responses": done, "parameters": by_id}
        verbs = ("get", "put", "delete")
        paths[f"/{thing}/{{id}}"] = {verb: {"summary": f"{verb} one of {thing}", **one} for verb in verbs}
    return {"openapi": "3.0.0", "info": {"title": "Store", "version": "1"}, "paths": paths}
