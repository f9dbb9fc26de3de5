"""An S3 for tests, by moto. Tells on standard output, as a line of JSON, its port.

`PUT /-/faults` with `{"method", "status", "code", "times"}` has it answer the next requests of that method with this error,
or with `body` instead, before it reads theirs.
"""

import json
import logging
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)
s3 = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()
fault = {"times": 0}


def app(environ, start_response):
    global fault
    if environ["PATH_INFO"] == "/-/faults":
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        with lock:
            fault = json.loads(body)
        start_response("204 No Content", [])
        return []
    with lock:
        failing = fault["times"] > 0 and fault["method"] == environ["REQUEST_METHOD"]
        if failing:
            fault["times"] -= 1
            status, code, body = fault["status"], fault["code"], fault.get("body")
    if not failing:
        return s3(environ, start_response)
    error = (body or f"<Error><Code>{code}</Code><Message>by the test</Message></Error>").encode()
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(error))), ("Connection", "close")]
    start_response(f"{status} Fault", headers)
    return [error]


server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=WSGIRequestHandler)
print(json.dumps({"port": server.port}), flush=True)
server.serve_forever()
