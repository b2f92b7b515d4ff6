import CFreshetCrypto

enum HMACCode {
    static func of(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, nil)
        return code
    }
}
