"""What Python programs read, as one JSON document.

Of a calendar, with the client library caldav: the arguments are url and name, the token comes on standard input. With the
argument `parse`, of the files in a JSON list on standard input, with icalendar.
"""

import json
import sys

import caldav
from icalendar import Calendar


def seen(url, name, token):
    client = caldav.DAVClient(url=url, username=name, password=token)
    [calendar] = client.principal().calendars()
    todos = calendar.todos(include_completed=True)
    return {
        "url": str(calendar.url),
        "name": calendar.get_display_name(),
        "components": calendar.get_supported_components(),
        "all": sorted(str(todo.icalendar_component["SUMMARY"]) for todo in todos),
        "open": sorted(str(todo.icalendar_component["SUMMARY"]) for todo in calendar.todos()),
    }


def parsed(text):
    calendar = Calendar.from_ical(text)
    [todo] = calendar.walk("VTODO")
    return {
        "components": [component.name for component in calendar.walk()],
        "uid": str(todo["UID"]),
        "summary": str(todo["SUMMARY"]),
        "description": str(todo["DESCRIPTION"]) if "DESCRIPTION" in todo else None,
        "names": sorted(todo.keys()),
    }


if sys.argv[1] == "parse":
    print(json.dumps([parsed(text) for text in json.load(sys.stdin)]))
else:
    print(json.dumps(seen(sys.argv[1], sys.argv[2], sys.stdin.read().strip())))
