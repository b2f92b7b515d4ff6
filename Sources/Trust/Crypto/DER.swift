/// The few forms of DER (X.690) in which libcrypto takes public keys and ECDSA signatures.
enum DER {
    static func sequence(_ contents: [UInt8]...) -> [UInt8] { element(0x30, contents.flatMap { $0 }) }

    /// An unsigned number, the highest byte first.
    static func integer(_ number: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        // A highest bit would be a sign, and nothing would be no number.
        return element(0x02, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
    }

    /// A public key of RFC 5280 §4.1.2.7.
    /// - Parameter algorithm: the contents of its AlgorithmIdentifier.
    static func publicKey(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] { sequence(element(0x30, algorithm), element(0x03, [0] + key)) }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = contents.count
        let length: [UInt8] =
            count < 0x80 ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8 & 255), UInt8(count & 255)]
        return [tag] + length + contents
    }
}
