"""Tests of the checks: each detects its contradiction, and accepts what only looks like one. `python3 -m unittest` in this folder."""

import collections
import contextlib
import io
import time
import unittest

import checks
from history import History
from records import Answer, Batch, Change, Page


def batch(number, key, sent, revisions, epoch="a", sent_for=None, head=None, floor=0, removes=False):
    """A batch of one writer that was answered with these revisions; `revisions` is None if no answer came."""
    answer = revisions and Answer(epoch, head or max(revisions), revisions, ["applied"] * 2, 8180, sent + 0.1, 0)
    return Batch("writer", number, key, sent, {of: floor for of in sent_for or [epoch]}, 1, answer, removes=removes)


def page(since, cursor, changes, received=10):
    return Page("follower", 1, since, cursor, True, 200, 8180, received - 1, received, 0, [Change(*change) for change in changes])


def lacking(one_page, batches, others=(), lineage=None, base=()):
    """The (key, revision, undecided writes) that the page lacks."""
    found = checks.revisions(one_page.epoch, lineage or checks.Lineage(), batches, [one_page, *others], base)
    undecided = [each for each in batches if not checks.is_decided(each, one_page.epoch, found)]
    return [
        (lack.known.key, lack.known.revision, len(lack.undecided))
        for lack in checks.missing(one_page, found, undecided) if lack.replacement is None]


def forked(fork):
    lineage = checks.Lineage()
    lineage.state("a", "b", fork)
    return lineage


class PageTests(unittest.TestCase):
    def test_a_page_that_lacks_an_acknowledged_change_is_a_contradiction(self):
        given = [batch(1, "k", 1, [4, 5])]
        self.assertEqual(lacking(page("a-3", "a-6", []), given), [("k", 5, 0)])

    def test_a_page_that_has_the_change_is_none(self):
        given = [batch(1, "k", 1, [4, 5])]
        self.assertEqual(lacking(page("a-3", "a-6", [("k", 5)]), given), [])

    def test_a_page_with_the_first_change_of_a_batch_alone_is_a_contradiction(self):
        given = [batch(1, "k", 1, [4, 5])]
        self.assertEqual(lacking(page("a-3", "a-6", [("k", 4)]), given), [("k", 5, 0)])

    def test_a_change_outside_of_the_range_is_not_required(self):
        given = [batch(1, "k", 1, [2, 3]), batch(3, "m", 1, [7, 8])]
        self.assertEqual(lacking(page("a-3", "a-6", []), given), [])

    def test_a_change_that_was_replaced_within_the_range_is_required_at_the_later_revision(self):
        given = [batch(1, "k", 1, [2, 3]), batch(3, "k", 2, [4, 5])]
        self.assertEqual(lacking(page("a-0", "a-6", [("k", 5)]), given), [])
        self.assertEqual(lacking(page("a-0", "a-6", [("k", 3)]), given), [("k", 5, 0)])

    def test_a_change_that_was_replaced_beyond_the_page_while_it_was_read_is_not_required(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "k", 9, [7, 8])]
        self.assertEqual(lacking(page("a-3", "a-6", [], received=10), given), [])

    def test_a_write_that_was_sent_after_the_page_came_has_not_replaced_the_change(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "k", 11, [7, 8])]
        self.assertEqual(lacking(page("a-3", "a-6", [], received=10), given), [("k", 5, 0)])

    def test_a_write_whose_revision_follows_one_that_was_sent_after_the_page_came_has_not_replaced_the_change(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "m", 11, [7, 8]), batch(5, "k", 9, [9, 10])]
        self.assertEqual(lacking(page("a-3", "a-6", [], received=10), given), [("k", 5, 0)])

    def test_a_change_that_only_another_follower_has_seen_is_required(self):
        other = page("a-3", "a-5", [("k", 5)])
        self.assertEqual(lacking(page("a-3", "a-6", []), [], [other]), [("k", 5, 0)])

    def test_a_write_of_unknown_outcome_may_have_replaced_the_change(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "k", 9, None)]
        self.assertEqual(lacking(page("a-3", "a-6", [], received=10), given), [("k", 5, 1)])
        given = [batch(1, "k", 1, [4, 5]), batch(3, "m", 9, None)]
        self.assertEqual(lacking(page("a-3", "a-6", [], received=10), given), [("k", 5, 0)])

    def test_a_write_that_was_only_decided_in_a_later_epoch_beyond_the_fork_may_have_replaced_it(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "k", 9, [8, 9], epoch="b", sent_for=["a", "b"])]
        self.assertEqual(lacking(page("a-3", "a-6", []), given, lineage=forked(6)), [("k", 5, 1)])

    def test_a_page_from_the_beginning_needs_the_records_of_the_last_rest(self):
        self.assertEqual(lacking(page("0", "a-6", []), [], base=[("k", 5, "a")]), [("k", 5, 0)])


    def test_a_delete_is_required_except_in_a_reading_from_the_beginning(self):
        given = [batch(1, "k", 1, [4, 5], removes=True)]
        self.assertEqual(lacking(page("a-3", "a-6", []), given), [("k", 5, 0)])
        self.assertEqual(lacking(page("0", "a-6", []), given), [])
        self.assertEqual(lacking(page("a-3-2", "a-6", []), given), [])


class LineageTests(unittest.TestCase):
    def test_a_repeat_that_gets_a_revision_before_the_fork_counts_for_both_epochs(self):
        given = [batch(1, "k", 1, [4, 5], epoch="b", sent_for=["a", "b"])]
        self.assertEqual(lacking(page("a-3", "a-6", []), given, lineage=forked(6)), [("k", 5, 0)])
        self.assertEqual(lacking(page("b-3", "b-6", []), given, lineage=forked(6)), [("k", 5, 0)])

    def test_a_revision_beyond_the_fork_says_nothing_of_the_other_epoch(self):
        given = [batch(1, "k", 1, [4, 5], epoch="b")]
        self.assertEqual(lacking(page("a-3", "a-6", []), given, lineage=forked(4)), [("k", 4, 0)])
        self.assertEqual(lacking(page("a-3", "a-6", []), given, lineage=forked(3)), [])

    def test_nothing_is_concluded_without_a_known_fork(self):
        given = [batch(1, "k", 1, [4, 5], epoch="b")]
        self.assertEqual(lacking(page("a-3", "a-6", []), given), [])

    def test_two_steps_share_what_the_earlier_fork_left(self):
        lineage = forked(6)
        lineage.state("b", "c", 9)
        self.assertEqual((lineage.common("a", "c"), lineage.common("c", "a"), lineage.common("a", "d")), (6, 6, 0))

    def test_two_forks_of_one_step_are_a_contradiction(self):
        lineage = forked(6)
        self.assertEqual(lineage.state("a", "b", 6), [])
        self.assertEqual(len(lineage.state("a", "b", 7)), 1)

    def test_one_revision_up_to_the_fork_with_two_writes_is_a_contradiction(self):
        given = [batch(1, "k", 1, [4, 5]), batch(3, "m", 1, [4, 5], epoch="b")]
        self.assertEqual(len(checks.revisions("b", forked(4), given, [], []).failures), 1)
        self.assertEqual(checks.revisions("b", forked(3), given, [], []).failures, [])


class RevisionTests(unittest.TestCase):
    def test_a_revision_of_no_write_is_a_gap(self):
        found = checks.revisions("a", checks.Lineage(), [batch(1, "k", 1, [1, 2]), batch(3, "k", 2, [4, 5])], [], [])
        self.assertEqual(checks.gaps(found, 0, 6), [3, 6])
        self.assertEqual(checks.gaps(found, 3, 5), [])

    def test_a_write_has_a_later_revision_than_all_that_were_seen_before_it_was_sent(self):
        self.assertEqual(len(list(checks.early(batch(1, "k", 1, [4, 5], floor=4)))), 1)
        self.assertEqual(list(checks.early(batch(1, "k", 1, [5, 6], floor=4))), [])

    def test_a_write_that_was_first_sent_for_a_former_epoch_may_have_an_inherited_revision(self):
        self.assertEqual(list(checks.early(batch(1, "k", 1, [4, 5], epoch="b", sent_for=["a", "b"], floor=9))), [])

    def test_a_revision_beyond_the_cursor_of_its_answer_is_a_contradiction(self):
        self.assertEqual(len(list(checks.early(batch(1, "k", 1, [4, 5], head=4)))), 1)

    def test_a_record_that_lacks_its_last_known_write_is_a_contradiction(self):
        found = checks.revisions("a", checks.Lineage(), [batch(1, "k", 1, [4, 5])], [], [])
        self.assertEqual(len(list(checks.behind(found, {"k": (3, None)}))), 1)
        self.assertEqual(len(list(checks.behind(found, {}))), 1)
        self.assertEqual(list(checks.behind(found, {"k": (5, None)})), [])

    def test_a_record_that_is_there_after_its_delete_is_a_contradiction(self):
        found = checks.revisions("a", checks.Lineage(), [batch(1, "k", 1, [4, 5], removes=True)], [], [])
        self.assertEqual(len(list(checks.behind(found, {"k": (4, None)}))), 1)
        self.assertEqual(list(checks.behind(found, {})), [])

    def test_a_page_out_of_order_or_range_or_without_advance_is_a_contradiction(self):
        for wrong in (
            page("a-3", "a-6", [("k", 5), ("m", 4)]), page("a-3", "a-6", [("k", 4), ("k", 5)]),
            page("a-3", "a-6", [("k", 3)]), page("a-3", "a-6", [("k", 7)])):
            self.assertTrue(list(checks.unordered(wrong)))
        self.assertTrue(list(checks.unordered(page("a-6", "a-6", [("k", 6)]))))
        self.assertEqual(list(checks.unordered(page("a-3.7", "a-6-3-x", [("k", 4), ("m", 6)]))), [])


class SurvivalTests(unittest.TestCase):
    def survival(self, write, marks, lineage, epoch="b"):
        failures, lost = checks.survival([write], {"k": (9, {"marks": dict.fromkeys(marks, True)})}, epoch, lineage)
        return len(failures), lost

    def test_a_write_up_to_the_fork_has_to_stay(self):
        self.assertEqual(self.survival(("k", "x", "a", 4, False), [], forked(4)), (1, 1))
        self.assertEqual(self.survival(("k", "x", "a", 4, False), ["x"], forked(4)), (0, 0))

    def test_a_write_beyond_the_fork_has_to_be_gone(self):
        self.assertEqual(self.survival(("k", "x", "a", 5, False), [], forked(4)), (0, 1))
        self.assertEqual(self.survival(("k", "x", "a", 5, False), ["x"], forked(4)), (1, 0))

    def test_a_write_of_the_present_epoch_has_to_stay(self):
        self.assertEqual(self.survival(("k", "x", "b", 5, False), [], checks.Lineage()), (1, 1))

    def test_a_write_that_a_standby_had_has_to_stay_whatever_is_known_of_the_fork(self):
        self.assertEqual(self.survival(("k", "x", "a", 5, True), [], checks.Lineage()), (1, 1))
        self.assertEqual(self.survival(("k", "x", "a", 5, False), [], checks.Lineage()), (0, 1))


class DelayTests(unittest.TestCase):
    # Answered at 1.1.
    given = [batch(1, "k", 1, [4, 5])]

    def delays(self, *pages, start=0, end=5):
        return [round(took, 3) for took, _, _ in checks.delays(self.given, pages, start, end)]

    def test_a_delay_ends_with_the_first_page_up_to_the_change(self):
        pages = page("a-2", "a-3", [], received=1.2), page("a-3", "a-5", [("k", 5)], received=1.5), page("a-5", "a-6", [], received=3)
        self.assertEqual(self.delays(*pages), [0.4])

    def test_a_follower_that_has_the_change_before_its_acknowledgement_has_no_delay(self):
        self.assertEqual(self.delays(page("a-3", "a-5", [("k", 5)], received=1.05), page("a-5", "a-5", [], received=3)), [])

    def test_a_batch_outside_of_the_stretch_does_not_count(self):
        self.assertEqual(self.delays(page("a-3", "a-5", [("k", 5)], received=3), start=2), [])

    def test_a_page_of_another_epoch_ends_no_delay(self):
        self.assertEqual(self.delays(page("b-3", "b-7", [], received=1.5)), [])


class PollTests(unittest.TestCase):
    def test_polls_without_changes_wait_or_failure_are_unneeded(self):
        polls = collections.Counter({"sent": 10, "with changes": 4, "waited": 3, "failed": 1})
        self.assertEqual(checks.unneeded(polls), 2)


class HistoryTests(unittest.TestCase):
    def setUp(self):
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def test_a_lacking_change_is_reported_with_its_page_and_its_writes(self):
        history = History()
        history.batches = [batch(1, "k", 9, [1, 2])]
        history.pages = [page("a-0", "a-2", [])]
        history.judge({"k": (2, None)}, "a-2")
        self.assertEqual(len(history.failures), 1)
        for part in ("a page from a-0 to a-2 lacks k", "the page:", "batch:", '"port": 8180'):
            self.assertIn(part, history.failures[0])

    def test_a_record_that_nobody_writes_any_more_stays_as_it_is(self):
        history, table = History(), {"k": (2, {"marks": {"x": True}})}
        history.batches = [batch(1, "k", 9, [1, 2])]
        history.acknowledge("k", "x", "a", 2)
        history.judge(table, "a-2", lambda key: True)
        self.assertEqual((history.acknowledged, history.failures), ([], []))
        history.judge(table, "a-2")
        self.assertEqual(history.failures, [])
        history.judge({"k": (2, {"marks": {}})}, "a-2")
        self.assertEqual(len(history.failures), 1)

    def test_a_change_that_comes_too_late_without_notifications_is_reported(self):
        history = History()
        history.batches = [batch(1, "k", 1, [1, 2])]
        history.pages = [page("a-0", "a-2", [("k", 2)], received=3)]
        history.windows = [("silence", 0, 2, 1)]
        history.judge({"k": (2, None)}, "a-2")
        self.assertEqual(len(history.failures), 1)
        self.assertIn("1.90 s after its acknowledgement", history.failures[0])

    def test_the_first_write_after_a_promotion_is_timed(self):
        history = History()
        history.promotion = ("a promotion", time.monotonic() - 9, 3)
        history.acknowledge("k", "x", "a", 2)
        history.acknowledge("k", "y", "a", 4)
        self.assertEqual((len(history.promotions), len(history.failures)), (1, 1))

    def test_a_rest_is_the_base_of_the_next_stretch(self):
        history = History()
        history.batches = [batch(1, "k", 9, [1, 2])]
        history.judge({"k": (2, None)}, "a-2")
        history.batches = [batch(3, "m", 12, [3, 4])]
        history.judge({"k": (2, None), "m": (4, None)}, "a-4")
        self.assertEqual((history.failures, history.counts["revisions found dense"]), ([], 4))
        self.assertEqual(history.batches + history.pages, [])


if __name__ == "__main__":
    unittest.main()
