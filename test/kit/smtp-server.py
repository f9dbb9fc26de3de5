"""A mail server for tests, by aiosmtpd. Tells on standard output, a line of JSON each, its port and what it got.

What it does with a mail is in the local part of its recipient: `tempfail` and `reject` at RCPT, `data-tempfail`,
`data-reject`, `data-hang` and `data-cut` once it has the message; anything else is taken. After one to `last` it cuts the
connection when the next begins. To one from `closing` it says that it is about to close. With `--takes-all` it refuses no
recipient.
"""

import argparse
import asyncio
import json
import ssl
import time

from aiosmtpd.smtp import SMTP, AuthResult

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--implicit", action="store_true")
parser.add_argument("--user")
parser.add_argument("--password")
parser.add_argument("--pipelining", action="store_true", help="takes a whole envelope at once")
parser.add_argument("--size-max", type=int, default=33554432)
parser.add_argument("--takes-all", action="store_true", help="takes mail to every recipient")
parser.add_argument("--hang", action="store_true", help="takes connections and says nothing")
options = parser.parse_args()


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Handler:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        return [*responses[:1], *(["250-PIPELINING"] if options.pipelining else []), *responses[1:]]

    async def handle_MAIL(self, server, session, envelope, address, mail_options):
        if getattr(session, "is_over", False):
            server.transport.abort()
            await asyncio.sleep(1)
        if address.partition("@")[0] == "closing":
            return "421 4.3.2 closing"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        local = address.partition("@")[0]
        if local == "tempfail" and not options.takes_all:
            return "450 4.2.1 not now"
        if local == "reject" and not options.takes_all:
            return "550 5.1.1 nobody here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        local = envelope.rcpt_tos[0].partition("@")[0]
        if local == "data-tempfail":
            return "451 4.3.0 not now"
        if local == "data-reject":
            return "554 5.7.1 not this"
        tell(
            "message",
            sender=envelope.mail_from,
            recipients=envelope.rcpt_tos,
            tls=session.ssl is not None or options.implicit,
            user=getattr(session.auth_data, "login", b"").decode() if session.auth_data else None,
            text=envelope.content.decode("utf-8", "replace"),
            atMs=int(time.time() * 1000),
            connection=session.peer[1],
        )
        session.is_over = local == "last"
        if local == "data-hang":
            await asyncio.sleep(3600)
        if local == "data-cut":
            server.transport.abort()
            await asyncio.sleep(1)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    success = data.login.decode() == options.user and data.password.decode() == options.password
    return AuthResult(success=success, handled=False, auth_data=data)


def certificate():
    if options.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    return context


def protocol():
    if options.hang:
        return asyncio.Protocol()
    return SMTP(
        Handler(),
        hostname="mail.test",
        data_size_limit=options.size_max,
        tls_context=None if options.implicit else certificate(),
        authenticator=authenticate if options.user else None,
        auth_required=options.user is not None,
        auth_require_tls=options.certificate is not None and not options.implicit,
    )


async def main():
    loop = asyncio.get_running_loop()
    implicit = certificate() if options.implicit else None
    server = await loop.create_server(protocol, "127.0.0.1", options.port, ssl=implicit)
    tell("listening", port=server.sockets[0].getsockname()[1])
    await server.serve_forever()


asyncio.run(main())
