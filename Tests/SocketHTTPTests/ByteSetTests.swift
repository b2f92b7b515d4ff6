import Testing

@testable import FreshetSocketHTTP

@Suite("Byte sets")
struct ByteSetTests {
    private static let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    private static func members(_ set: ByteSet) -> Set<UInt8> {
        Set((UInt8.min...UInt8.max).filter(set.contains))
    }

    @Test("Each set holds its characters and nothing else")
    func members() {
        #expect(ByteSetTests.members(.token) == Set(("!#$%&'*+-.^_`|~" + ByteSetTests.alphanumeric).utf8))
        #expect(ByteSetTests.members(.target) == Set(("!$%&'()*+,-./:;=?@[\\]^_`{|}~" + ByteSetTests.alphanumeric).utf8))
        #expect(ByteSetTests.members(.host) == Set(("!$%&'()*+,-.:;=[]_~" + ByteSetTests.alphanumeric).utf8))
    }

    @Test("Hexadecimal digits have their values in both cases")
    func hexadecimal() {
        for byte in UInt8.min...UInt8.max {
            let expected = byte < 128 ? Int(String(UnicodeScalar(byte)), radix: 16) : nil
            #expect(byte.hexadecimalValue.map(Int.init) == expected)
        }
    }
}
