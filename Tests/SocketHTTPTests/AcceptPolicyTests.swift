import Glibc
import Testing

@testable import FreshetSocketHTTP

@Suite("Accept policy")
struct AcceptPolicyTests {
    @Test("Connections are served up to the limit, refused a little beyond it, and left waiting further on")
    func limit() {
        let policy = AcceptPolicy(limit: 10, refusals: 2)
        #expect(policy.decide(open: 9) == .serve)
        #expect(policy.decide(open: 10) == .refuse)
        #expect(policy.decide(open: 11) == .refuse)
        #expect(policy.decide(open: 12) == .pause)
        #expect(AcceptPolicy(limit: .max - 1).decide(open: .max) == .refuse)
    }

    @Test("A listener with a reserve serves when all other connections are taken, refused ones included")
    func reserve() {
        let (others, operators) = (AcceptPolicy(limit: 10, hasReserve: false), AcceptPolicy(limit: 10, hasReserve: true))
        let most = (10...).first { others.decide(open: $0) == .pause } ?? 0
        #expect(others.decide(open: 10) == .refuse && operators.decide(open: most) == .serve)
        #expect(operators.decide(open: most + 63) == .serve && operators.decide(open: most + 64) == .refuse)
        #expect(operators.decide(open: most + 64 + 128) == .pause)
        #expect(AcceptPolicy(limit: .max, hasReserve: true).decide(open: 1) == .serve)
    }

    @Test("Connections that would take the last descriptors wait, except those of a listener with a reserve")
    func room() {
        let (others, operators) = (
            AcceptPolicy(limit: 10, hasReserve: false, room: 4), AcceptPolicy(limit: 10, hasReserve: true, room: 4)
        )
        #expect(others.decide(open: 3) == .serve && others.decide(open: 4) == .pause)
        #expect(operators.decide(open: 4) == .serve)
        #expect(AcceptPolicy(limit: 10, hasReserve: false, room: 12).decide(open: 11) == .refuse)
    }

    @Test("Running out pauses: the kernel keeps those who wait", arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func exhausted(code: Int32) {
        #expect(AcceptPolicy.classify(code) == .pause)
    }

    @Test("A connection that died while it waited is skipped", arguments: [ECONNABORTED, EINTR, EPROTO, ENETDOWN])
    func aborted(code: Int32) {
        #expect(AcceptPolicy.classify(code) == .skip)
    }

    @Test("An empty backlog is the end")
    func empty() {
        #expect(AcceptPolicy.classify(EAGAIN) == .done)
    }
}
