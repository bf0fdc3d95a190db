"""Seven microbenchmarks of an item store. usage: bench.py NAME [NUMBER …]

The whole benchmark runs twice in this process, and the second time is printed, in seconds for each operation: a compiler that
learns while the program runs has learnt by then. Each pass starts from a new database, and is checked after the clock has stopped.
"""

import functools
import gc
import os
import shutil
import sys
import tempfile
from time import perf_counter

from store import InMemory, Integer, Item, Store


def main(name, *numbers):
    benchmark = BENCHMARKS[name]
    for _ in range(2):
        folder = tempfile.mkdtemp(prefix="bench-")
        try:
            seconds, operations = benchmark(os.path.join(folder, "items"), *map(int, numbers))
        finally:
            shutil.rmtree(folder)
    print(seconds / operations)


@functools.cache  # The second pass works with the types of the first, which the compiler has met.
def item_type(name, attribute, names):
    return type(name, (Item,), {name: attribute() for name in names})


def numbered(name, attributes):
    return item_type(name, Integer, tuple(f"n{i}" for i in range(attributes)))


def check(right, what):
    if not right:
        sys.exit(f"bench.py: {what}")


def item_creation(path, attributes, transactions=20, each=500):
    """One operation: an item is made and written. Each transaction makes 500."""
    kind = numbered("Thing", attributes)
    store = Store(path, [kind])
    values = {f"n{i}": i for i in range(attributes)}
    start = perf_counter()
    for _ in range(transactions):
        with store:
            for _ in range(each):
                kind(store, **values)
    seconds = perf_counter() - start
    columns = " AND ".join(f"n{i} = {i}" for i in range(attributes))
    count = store.database.execute(f"SELECT count(*) FROM {kind.table} WHERE {columns}").fetchone()[0]
    check(count == transactions * each, f"{count} items were written")
    return seconds, transactions * each


def setting(path, attribute, items, times, in_transaction):
    """One operation: one attribute of one item is set. Five attributes of each item are."""
    kind = item_type("Thing", attribute, "abcde")
    store = Store(path, [kind])
    with store:
        things = [kind(store, a=0, b=0, c=0, d=0, e=0) for _ in range(items)]
    start = perf_counter()
    for value in range(1, times + 1):
        if in_transaction:
            with store:
                set_all(things, value)
        else:
            set_all(things, value)
    seconds = perf_counter() - start
    check(all(t.a == t.b == t.c == t.d == t.e == times for t in things), "an item has not the value that was set")
    if in_transaction:
        total = store.database.execute(f"SELECT sum(a + b + c + d + e) FROM {kind.table}").fetchone()[0]
        check(total == 5 * items * times, f"the values that were written add up to {total}")
    return seconds, 5 * items * times


def set_all(things, value):
    for thing in things:
        thing.a = value
        thing.b = value
        thing.c = value
        thing.d = value
        thing.e = value


def inmemory_setting(path):
    return setting(path, InMemory, items=1000, times=600, in_transaction=False)


def integer_setting(path):
    return setting(path, Integer, items=1000, times=30, in_transaction=True)


def item_loading(path, attributes, items=15_000):
    """One operation: an item that is not alive is read from its row."""
    kind = numbered("Thing", attributes)
    store = Store(path, [kind])
    with store:
        for value in range(items):
            kind(store, **{f"n{i}": value + i for i in range(attributes)})
    gc.collect()  # CPython has freed the items already; PyPy has not.
    check(len(store.live) == 0, "items are alive before they are loaded")
    total = 0
    start = perf_counter()
    with store:  # Else SQLite would lock and unlock the file for every item.
        for key in range(1, items + 1):
            total += store.load(kind, key).n0
    seconds = perf_counter() - start
    check(total == items * (items - 1) // 2, f"the values that were read add up to {total}")
    return seconds, items


def query_creation(path, attributes, queries=30_000):
    """One operation: a query of one type is made, and not run."""
    return make_queries(path, [numbered("Thing", attributes)], queries)


def multiquery_creation(path, types, attributes, queries=8_000):
    """One operation: a query that joins several types is made, and not run."""
    return make_queries(path, [numbered(f"Thing{i}", attributes) for i in range(types)], queries)


def make_queries(path, kinds, queries):
    store = Store(path, kinds)
    joined = [kind.n0 == kinds[0].n0 for kind in kinds[1:]]
    written = 0
    start = perf_counter()
    for value in range(queries):
        written += len(store.query(kinds, kinds[0].n1 > value, *joined).sql)
    seconds = perf_counter() - start
    check_query(store, kinds, joined, written / queries)
    return seconds, queries


def check_query(store, kinds, joined, length):
    """The query finds the one item of each type whose first attribute is the same in all."""
    with store:
        for kind in kinds:
            wanted = kind(store, n0=7, n1=1000)
            kind(store, n0=8 + kinds.index(kind), n1=0)
    query = store.query(kinds, kinds[0].n1 > 999, *joined)
    check(len(query.sql) == length, "queries of one kind differ in length")
    found = list(query)
    check(len(found) == 1 and found[0][-1] is wanted, f"the query found {len(found)} items")


def store_opening(path, types, attributes, times=150):
    """One operation: a store that exists is opened, which reads its schema, and closed."""
    kinds = [numbered(f"Thing{i}", attributes) for i in range(types)]
    Store(path, kinds).close()
    columns = 0
    start = perf_counter()
    for _ in range(times):
        store = Store(path)
        columns += sum(map(len, store.schema.values()))
        store.close()
    seconds = perf_counter() - start
    check(columns == times * types * attributes, f"the stores had {columns} columns")
    return seconds, times


BENCHMARKS = {
    "item-creation": item_creation,
    "inmemory-setting": inmemory_setting,
    "integer-setting": integer_setting,
    "item-loading": item_loading,
    "multiquery-creation": multiquery_creation,
    "query-creation": query_creation,
    "store-opening": store_opening,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in BENCHMARKS:
        sys.exit("usage: bench.py " + "|".join(BENCHMARKS) + " [NUMBER …]")
    main(*sys.argv[1:])
