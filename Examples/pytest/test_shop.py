"""The guarantees that a backend in Python has, and the errors that it must handle."""

import concurrent.futures
import urllib.error

import pytest
from conftest import LOST

SALE = {"client": "till-1", "writes": [{"number": 1, "op": "increment", "key": "articles/apple", "path": "/sold", "by": 1}]}


def sold(shop):
    return shop.request("GET", "/records/articles/apple").json["sold"]


def test_the_command_line_and_http_see_the_same(shop):
    assert shop.freshet("put", "articles/apple", '{"price":120}').returncode == 0
    assert shop.request("GET", "/records/articles/apple").json == {"price": 120}

    shop.request("PUT", "/records/articles/pear", {"price": 90})
    assert shop.freshet("get", "articles/pear").stdout == '{"price": 90}'


def test_a_poll_is_answered_by_the_next_write(shop):
    start = shop.request("PUT", "/records/articles/apple", {"price": 120}).cursor

    with concurrent.futures.ThreadPoolExecutor() as pool:
        poll = pool.submit(shop.request, "GET", f"/changes?since={start}&wait=30")
        shop.request("PUT", "/records/articles/pear", {"price": 90})
        page = poll.result().json

    assert [change["key"] for change in page["changes"]] == ["articles/pear"]


@pytest.mark.parametrize("effect", ["drop-reply", "cut-reply", "drop-request"])
def test_a_sale_counts_once_wherever_the_connection_breaks(shop, effect):
    fault = shop.fault(effect, on="writes")

    with pytest.raises(LOST):
        shop.request("POST", "/writes", SALE)
    again = shop.request("POST", "/writes", SALE)

    assert again.json["results"] == [{"number": 1, "status": "applied", "revision": 1}]
    assert sold(shop) == 1
    assert shop.strikes(fault) == 1


def test_a_sale_counts_once_though_it_arrives_twice(shop):
    shop.fault("duplicate", on="writes")
    assert shop.request("POST", "/writes", SALE).status == 200
    assert sold(shop) == 1


def test_a_busy_server_is_told_by_the_exit_status(shop):
    shop.fault("answer", status=503, on="records")
    assert shop.freshet("put", "articles/apple", "1").returncode == 75
    assert shop.freshet("put", "articles/apple", "1").returncode == 0


def test_an_expired_token_is_told_by_the_exit_status(shop):
    shop.freshet("put", "articles/apple", "1")
    assert shop.freshet("get", "articles/apple", "--token", "till.1").returncode == 0
    shop.fault("expire-token", device="till")
    assert shop.freshet("get", "articles/apple", "--token", "till.1").returncode == 77
    assert shop.freshet("get", "articles/apple", "--token", "till.2").returncode == 0


def test_a_frozen_socket_is_given_up(shop):
    shop.fault("freeze", on="writes", device="till")
    with pytest.raises((TimeoutError, urllib.error.URLError)):
        shop.request("POST", "/writes", SALE, token="till.1", timeout=0.2)
    assert shop.request("POST", "/writes", SALE).status == 200


def test_a_late_request_comes_when_the_faults_are_lifted(shop):
    fault = shop.fault("delay-request", milliseconds=60000, on="writes")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        late = pool.submit(shop.request, "POST", "/writes", SALE)
        while shop.strikes(fault) == 0:
            pass
        assert shop.request("GET", "").json["records"] == 0
        shop.lift()
        assert late.result().status == 200


def test_after_a_reset_one_starts_again(shop):
    cursor = shop.request("PUT", "/records/articles/apple", {"price": 120}).cursor
    assert shop.request("POST", "/faults/reset").json["records"] == 1
    answer = shop.request("GET", f"/changes?since={cursor}&wait=0")
    assert answer.status == 410 and answer.json["type"].endswith("epoch-changed")


def test_after_a_compaction_old_cursors_have_expired(shop):
    cursor = shop.request("PUT", "/records/articles/apple", {"price": 120}).cursor
    shop.request("DELETE", "/records/articles/apple")
    assert shop.request("POST", "/faults/compact").json == {"forgotten": 1}
    answer = shop.request("GET", f"/changes?since={cursor}&wait=0")
    assert answer.status == 410 and answer.json["type"].endswith("cursor-expired")


def test_a_fault_that_cannot_be_is_refused(shop):
    answer = shop.request("POST", "/faults", {"effect": "drop"})
    assert answer.status == 400 and "drop-reply" in answer.json["detail"]
