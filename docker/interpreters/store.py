"""A small store of items on SQLite: Python objects whose attributes are columns.

It does what the microbenchmarks of this folder need, in the manner of an object store: an item type is a class that names its
attributes, an item is a row, a store is a database file that knows its own schema. Nothing is cached beyond the items that are
alive, so two loads of one live item give one object.
"""

import sqlite3
import weakref


class Attribute:
    """One attribute of an item type. Reading and setting go through here."""

    def __set_name__(self, owner, name):
        self.name = name
        self.slot = "_" + name

    def __get__(self, item, owner=None):
        if item is None:
            return self
        return item.__dict__.get(self.slot)

    def __set__(self, item, value):
        item.__dict__[self.slot] = self.accept(value)

    def accept(self, value):
        return value


class InMemory(Attribute):
    """An attribute that is never stored."""


class Integer(Attribute):
    """An attribute that is a column of whole numbers of 64 bits, or None."""

    limit = 1 << 63

    def accept(self, value):
        if value is not None and (type(value) is not int or not -self.limit <= value < self.limit):
            raise TypeError(f"{self.name} takes an integer of 64 bits, not {value!r}")
        return value

    def __set__(self, item, value):
        item.__dict__[self.slot] = self.accept(value)
        item.touch(self)

    # Comparisons are conditions of a query.
    def __eq__(self, value):
        return Condition(self, "=", value)

    def __lt__(self, value):
        return Condition(self, "<", value)

    def __gt__(self, value):
        return Condition(self, ">", value)

    __hash__ = object.__hash__

    @property
    def column(self):
        return f"{self.table}.{quoted(self.name)}"


class Condition:
    """A comparison of a column with a value or another column."""

    def __init__(self, left, sign, right):
        self.left, self.sign, self.right = left, sign, right

    def sql(self, arguments):
        if isinstance(self.right, Integer):
            return f"{self.left.column} {self.sign} {self.right.column}"
        arguments.append(self.left.accept(self.right))
        return f"{self.left.column} {self.sign} ?"


class Item:
    """A row. Subclasses name their attributes; items are made with a store, or without one and added later."""

    store = None
    key = None  # The row's, once it has one.

    def __init_subclass__(cls):
        cls.table = quoted("item_" + cls.__name__.lower())
        cls.columns = [a for a in vars(cls).values() if isinstance(a, Integer)]
        for attribute in cls.columns:
            attribute.table = cls.table
        names = ", ".join(["key", *(quoted(a.name) for a in cls.columns)])
        values = ", ".join(["NULL", *("?" for _ in cls.columns)])
        cls.insert_sql = f"INSERT INTO {cls.table} ({names}) VALUES ({values})"
        cls.select_sql = f"SELECT {names} FROM {cls.table} WHERE key = ?"

    def __init__(self, store=None, **values):
        for name, value in values.items():
            setattr(self, name, value)
        if store is not None:
            store.add(self)

    def touch(self, attribute):
        """Remember that the row has to be written."""
        store = self.store
        if store is not None:
            store.changed(self, attribute)

    def row(self):
        values = self.__dict__
        return [values.get(a.slot) for a in self.columns]


class Query:
    """Items of one or more types that meet all conditions. Making a query writes its SQL and runs nothing."""

    def __init__(self, store, types, *conditions):
        self.store, self.types = store, types
        arguments = []
        wanted = [f"{t.table}.key" if a is None else a.column for t in types for a in [None, *t.columns]]
        self.sql = f"SELECT {', '.join(wanted)} FROM {', '.join(t.table for t in types)}"
        if conditions:
            self.sql += " WHERE " + " AND ".join(c.sql(arguments) for c in conditions)
        self.arguments = arguments

    def __iter__(self):
        for row in self.store.database.execute(self.sql, self.arguments):
            items, at = [], 0
            for kind in self.types:
                end = at + 1 + len(kind.columns)
                items.append(self.store.item(kind, row[at], row[at + 1:end]))
                at = end
            yield tuple(items)


class Store:
    """A database file. Everything is written in transactions: `with store: …`."""

    def __init__(self, path, types=()):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.live = weakref.WeakValueDictionary()
        self.dirty = {}
        self.depth = 0
        self.read_schema()
        for kind in types:
            self.create(kind)

    def read_schema(self):
        """What the file holds: {table: [column, …]}."""
        self.schema = {}
        execute = self.database.execute
        execute("CREATE TABLE IF NOT EXISTS stored_type (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        for name, _ in execute("SELECT name, version FROM stored_type ORDER BY name").fetchall():
            self.schema[name] = [column[1] for column in execute(f"PRAGMA table_info({name})")][1:]

    def create(self, kind):
        names = [a.name for a in kind.columns]
        if self.schema.setdefault(kind.table, names) != names:
            raise TypeError(f"{kind.table} has the columns {self.schema[kind.table]}, not {names}")
        columns = "".join(f", {quoted(name)} INTEGER" for name in names)
        self.database.execute(f"CREATE TABLE IF NOT EXISTS {kind.table} (key INTEGER PRIMARY KEY{columns})")
        self.database.execute("INSERT OR IGNORE INTO stored_type VALUES (?, 1)", (kind.table,))

    def __enter__(self):
        if self.depth == 0:
            self.database.execute("BEGIN")
        self.depth += 1
        return self

    def __exit__(self, failed, *_):
        self.depth -= 1
        if self.depth > 0:
            return
        if failed:
            self.dirty.clear()
            self.database.execute("ROLLBACK")
            return
        self.flush()
        self.database.execute("COMMIT")

    def add(self, item):
        item.key = self.database.execute(item.insert_sql, item.row()).lastrowid
        item.store = self
        self.live[type(item), item.key] = item

    def changed(self, item, attribute):
        self.dirty.setdefault(item, set()).add(attribute)
        if self.depth == 0:
            self.flush()

    def flush(self):
        for item, attributes in self.dirty.items():
            ordered = [a for a in item.columns if a in attributes]
            names = ", ".join(f"{quoted(a.name)} = ?" for a in ordered)
            values = [a.__get__(item) for a in ordered]
            self.database.execute(f"UPDATE {item.table} SET {names} WHERE key = ?", [*values, item.key])
        self.dirty.clear()

    def load(self, kind, key):
        """The item of that key: the live one, or one read from its row."""
        item = self.live.get((kind, key))
        if item is not None:
            return item
        row = self.database.execute(kind.select_sql, (key,)).fetchone()
        if row is None:
            raise KeyError(f"{kind.table} has no row {key}")
        return self.item(kind, key, row[1:])

    def item(self, kind, key, row):
        item = self.live.get((kind, key))
        if item is None:
            item = kind.__new__(kind)
            for attribute, value in zip(kind.columns, row):
                item.__dict__[attribute.slot] = value
            item.key, item.store = key, self
            self.live[kind, key] = item
        return item

    def query(self, types, *conditions):
        return Query(self, types, *conditions)

    def close(self):
        self.database.close()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'
