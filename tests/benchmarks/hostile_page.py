"""What a page tries to reach beyond its own origin: `python -m tests.benchmarks.hostile_page`.

A server that nobody allowed listens on loopback, over TCP and UDP, IPv4 and IPv6. Each attempt is a page of the allowed
site that is opened, clicked and given a moment, or an address that a model asks for. Afterwards nothing may have
reached that server.
"""

from __future__ import annotations

import asyncio
import json
import sys

from browser_agent import Browser
from browser_agent.actions import Click, Navigate
from browser_agent.actions.perform import perform
from browser_agent.network.egress import Egress
from tests.benchmarks.shared.harness import Bars, make_parser
from tests.sites.server import Site

MOMENT = 0.8
"""Seconds a page gets."""
PAGES = {
    "meta refresh": "<meta http-equiv=refresh content='0;url=AT/'>",
    "location": "<script>location='AT'</script>",
    "window.open, noopener": "<button onclick=\"window.open('AT','_blank','noopener')\">go</button>",
    "link to another tab": "<a href=AT target=_blank>go</a>",
    "link with ping": "<a href='#x' ping=AT>go</a>",
    "WebSocket": "<script>new WebSocket('ws://HOST')</script>",
    "secure WebSocket": "<script>new WebSocket('wss://HOST')</script>",
    "EventSource": "<script>new EventSource('AT')</script>",
    "WebRTC, STUN and TURN": "<script>let t={username:'u',credential:'p'},c=new RTCPeerConnection({iceServers:["
    "{urls:'stun:HOST'},{urls:'turn:HOST?transport=tcp',...t},{urls:'turn:HOST',...t}]});"
    "c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))</script>",
    "WebTransport": "<script>try{new WebTransport('https://HOST/')}catch(e){}</script>",
    "download by link": "<a href=AT/f.zip download>go</a>",
    "frame of a blob": "<script>let b=URL.createObjectURL(new Blob(['<img src=AT>'],{type:'text/html'}));"
    "let f=document.createElement('iframe');f.src=b;document.body.append(f)</script>",
    "data: frame": "<iframe src=\"data:text/html,<img src='AT'>\"></iframe>",
    "srcdoc frame": "<iframe srcdoc=\"<script>fetch('AT',{mode:'no-cors'})</script>\"></iframe>",
    "form to another tab": "<form action=AT target=_blank method=post><button>go</button></form>",
    "form that submits itself": "<form action=AT method=post></form><script>document.forms[0].submit()</script>",
    "frame": "<iframe src=AT></iframe><frame src=AT>",
    "stylesheets": "<link rel=stylesheet href=AT/a.css><style>@import 'AT/b.css';"
    "@font-face{font-family:f;src:url(AT/c)}p{font-family:f;background:url(AT/d)}</style><p>text",
    "media": "<img src=AT/1><picture><source srcset=AT/2><img></picture><video src=AT/3 poster=AT/4 autoplay></video>"
    "<audio src=AT/5 autoplay></audio><object data=AT/6></object><embed src=AT/7><svg><image href=AT/8 /></svg>"
    "<input type=image src=AT/9>",
    "beacon and requests": "<script>navigator.sendBeacon('AT','x');fetch('AT',{mode:'no-cors',keepalive:true});"
    "let x=new XMLHttpRequest();x.open('GET','AT');x.send()</script>",
    "speculation rules": "<script type=speculationrules>"
    + json.dumps({rule: [{"source": "list", "urls": ["AT"]}] for rule in ("prefetch", "prerender")})
    + "</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob("
    "[\"fetch('AT',{mode:'no-cors'});importScripts('AT/w.js')\"])))</script>",
    "service worker": "<script>navigator.serviceWorker.register('/sw.js')</script>",
    "files and inner pages": "<iframe src=file:///etc/passwd></iframe><iframe src=chrome://version></iframe>"
    "<iframe src='view-source:file:///etc/passwd'></iframe><a href=file:///etc/passwd>go</a>",
}
"""Pages by what they try. AT stands for the server's URL, HOST for its host and port."""
RELS = ("prefetch", "preconnect", "dns-prefetch", "preload", "modulepreload", "prerender", "icon", "manifest")
IMAGE_HOSTS = (
    "2130706433 0177.0.0.1 0x7f000001 127.1 0.0.0.0 0 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] localhost LOCALHOST. "
    "x.localhost 127.0.0.1. user:pass@127.0.0.1 allowed.example@127.0.0.1 ①②⑦.0.0.1"
).split()
ADDRESSES = (
    "http://127.0.0.1:PORT/ http://2130706433:PORT/ http://0x7f.1:PORT/ http://localhost:PORT/ http://[::1]:PORT/ "
    "http://user@127.0.0.1:PORT/ http://127.0.0.1:1/ http://169.254.169.254/latest/meta-data/ http://[fd00:ec2::254]/ "
    "http://metadata.google.internal/ http://10.0.0.1/ http://192.168.1.1/ ftp://127.0.0.1:PORT/ ws://127.0.0.1:PORT/ "
    "file:///etc/passwd view-source:file:///etc/passwd chrome://version javascript:location='http://127.0.0.1' "
    "data:text/html,hi blob:http://127.0.0.1:PORT/x"
).split()


async def open_trap(caught: list[str]) -> int:
    """Listen on one port over TCP and UDP, and note what arrives in `caught`. Returns the port."""

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caught.append((await reader.read(200)).split(b"\r\n")[0].decode("latin-1")[:80] or "a connection")
        writer.close()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, _address: object) -> None:
            caught.append(f"datagram of {len(data)} bytes")

    server = await asyncio.start_server(receive, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    await asyncio.start_server(receive, "::1", port)
    await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", port))
    return port


async def run(bars: Bars) -> int:
    """Try everything. Returns the number of attempts."""
    caught: list[str] = []
    port = await open_trap(caught)
    away = f"http://127.0.0.1:{port}"
    bodies = PAGES | {f"link rel={rel}": f"<link rel={rel} href=AT/ as=script>" for rel in RELS}
    bodies |= {f"image from {host}": f"<img src='http://{host}:{port}/'>" for host in IMAGE_HOSTS}
    pages = {"/": "home", "/sw.js": f"self.addEventListener('install',e=>fetch('{away}',{{mode:'no-cors'}}))"}
    for n, body in enumerate(bodies.values()):
        pages[f"/{n}"] = f"<title>{n}</title>{body.replace('AT', away).replace('HOST', f'127.0.0.1:{port}')}"
    with Site(pages=pages) as site:
        attempts = {what: f"{site.url}/{n}" for n, what in enumerate(bodies)}
        attempts |= {"redirects in a row": f"{site.url}/to?url=/to?url={away}/"}
        attempts |= {f"navigate {url}": url.replace("PORT", str(port)) for url in ADDRESSES}
        async with await Browser.launch(egress=Egress.of().with_origin(site.url)) as browser:
            window = await browser.window()
            for what, url in attempts.items():
                caught.clear()
                outcome = await perform(window, (Navigate(kind="navigate", url=url),))
                page = outcome.observation
                for ref in [ref for ref, control in page.refs.items() if control.name == "go"] if page else ():
                    await perform(window, (Click(kind="click", ref=ref),))
                await asyncio.sleep(0 if what.startswith("navigate") else MOMENT)
                opened = outcome.kind == "done" and what.startswith("navigate")
                shown = page is not None and "root:" in page.text
                held = bars.require(not caught and not opened and not shown, f"{what} came through")
                print(f"{'held back' if held else 'CAME THROUGH':12} {what} {caught[:2] or ''}", flush=True)
            browser.permit(f"{away}/")
            await perform(window, (Navigate(kind="navigate", url=f"{away}/"),))
            bars.require(caught, "the trap itself does not work")
    return len(attempts)


def main() -> int:
    """Print the table."""
    make_parser("hostile_page", __doc__).parse_args()
    bars = Bars()
    attempts = asyncio.run(run(bars))
    print(f"{attempts} attempts, {len(bars.missed)} came through")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
