import CFreshetLinux
import Glibc
import Testing

@testable import FreshetSocketHTTP

@Suite("Addresses of clients") struct PeerAddressTests {
    private static func address(_ text: String) -> PeerAddress {
        var storage = sockaddr_storage()
        let isVersion6 = text.contains(":")
        storage.ss_family = sa_family_t(isVersion6 ? AF_INET6 : AF_INET)
        withUnsafeMutableBytes(of: &storage) { bytes in
            _ = inet_pton(isVersion6 ? AF_INET6 : AF_INET, text, bytes.baseAddress?.advanced(by: isVersion6 ? 8 : 4))
        }
        return PeerAddress(&storage)
    }

    @Test(
        "A client is an IPv4 address, or an IPv6 network of 64 bits",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"), ("::1", "::"), ("::ffff:10.1.2.3", "::ffff:10.1.2.3"),
        ])
    func subscriber(text: String, network: String) {
        let address = Self.address(text)
        #expect(address.text == text && address.subscriber.text == network)
    }
}
