"""What keeps a run safe: where the browser may connect, what a secret may be typed into, what needs a person's yes.

Rules are frozen values and pure functions (`egress`, `secrets`, `confirmation`); `proxy` alone holds a socket. Nothing here
trusts a page, a model or a name service.
"""
