import Testing

@testable import freshet

/// Which addresses only this machine reaches.
struct ListeningHostTests {
    @Test(arguments: ["127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "localhost", "LOCALHOST"])
    func onlyThisMachineReachesLoopback(_ host: String) {
        #expect(ListeningHost.isLoopback(host))
    }

    @Test(arguments: [
        "0.0.0.0", "::", "10.127.0.1", "128.0.0.1", "::2", "1::1", "::ffff:10.0.0.1", "a.localhost", "127.0.0.1.example", "0", "",
    ])
    func othersMayReachTheRest(_ host: String) {
        #expect(!ListeningHost.isLoopback(host))
    }
}
