import Testing

/// Every order of commits, publications, announcements (once, twice or lost) and reads of servers over one store. The
/// numbers of orders are fixed, so that a change which leaves some out is noticed.
@Suite("Orders of commits of several servers") struct CommitOrderTests {
    private typealias Commit = CommitOrders.Commit

    private func count(_ commits: [Commit], servers: Int) throws -> CommitOrders.Count {
        let count = try CommitOrders(commits, servers: servers).count()
        print("\(commits.count) commits, \(servers) servers: \(count.orders) orders through \(count.states) states")
        return count
    }

    @Test func threeServersOfWhichTwoWriteOneRecord() throws {
        let commits = [Commit(author: 0, work: .put("a/1")), Commit(author: 1, work: .put("a/1"))]
        #expect(try count(commits, servers: 3) == CommitOrders.Count(orders: 7_112_045_760, states: 26_842))
    }

    @Test func threeServersOfWhichOneBeginsAHistory() throws {
        let commits = [Commit(author: 0, work: .put("a/1")), Commit(author: 1, work: .reset)]
        #expect(try count(commits, servers: 3) == CommitOrders.Count(orders: 2_519_714_976, states: 14_012))
    }

    @Test func twoServersThatWriteThreeTimesInTurn() throws {
        let commits = [
            Commit(author: 0, work: .put("a/1")), Commit(author: 1, work: .put("a/2")), Commit(author: 0, work: .put("a/1")),
        ]
        #expect(try count(commits, servers: 2) == CommitOrders.Count(orders: 85_413_922, states: 6_432))
    }

    @Test func twoServersWhoseHistoryEndsBetweenTheirWrites() throws {
        let commits = [Commit(author: 0, work: .put("a/1")), Commit(author: 1, work: .reset), Commit(author: 0, work: .put("a/1"))]
        #expect(try count(commits, servers: 2) == CommitOrders.Count(orders: 65_696_779, states: 6_126))
    }
}
