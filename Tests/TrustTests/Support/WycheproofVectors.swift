import FreshetWire
import Glibc

@testable import FreshetTrust

/// A file of test vectors of Project Wycheproof (https://github.com/C2SP/wycheproof), from a copy of its folder
/// `testvectors_v1` that is named by `FRESHET_WYCHEPROOF`. The repository has none of them.
struct WycheproofVectors {
    static let folder = getenv("FRESHET_WYCHEPROOF").map { String(cString: $0) }

    /// The files of the algorithms that a token may have, and of JSON Web Signatures.
    static let files =
        ["ed25519", "ecdsa_secp256r1_sha256_p1363", "hmac_sha256", "json_web_signature", "json_web_key"]
        + [2_048, 3_072, 4_096, 8_192].map { "rsa_signature_\($0)_sha256" }

    struct Vector {
        enum ExpectedResult: String { case valid, invalid, acceptable }

        let number: Int64
        let comment: String
        let flags: [String]
        let expected: ExpectedResult
        /// Whether it is accepted; `nil` for a key or a code that no token has, which is refused.
        let isAccepted: Bool?
    }

    let vectors: [Vector]

    /// Reads and verifies all vectors of a file.
    init(_ name: String, in folder: String) throws {
        let file = try Self.members(try Self.contents("\(folder)/\(name)_test.json"))
        vectors = try Self.elements(file["testGroups"]).flatMap { json in
            let group = try Self.members(json)
            return try Self.elements(group["tests"]).map { json in
                let test = try Self.members(json)
                let flags = try Self.elements(test["flags"]).map { try Self.text($0) }
                let expected = try Self.need(Vector.ExpectedResult(rawValue: Self.text(test["result"])))
                return Vector(
                    number: try Self.integer(test["tcId"]), comment: try Self.text(test["comment"]), flags: flags,
                    expected: flags.contains("Ambiguous") ? .acceptable : expected, isAccepted: try Self.verify(test, group))
            }
        }
    }

    // MARK: Verifications

    private static func verify(_ test: [String: [UInt8]], _ group: [String: [UInt8]]) throws -> Bool? {
        switch try text(group["type"]) {
        case "EddsaVerify":
            let key = try VerificationKey(ed25519: bytes(members(group["publicKey"])["pk"]))
            return key.verifies(try bytes(test["sig"]), of: try bytes(test["msg"])[...])
        case "EcdsaP1363Verify":
            let key = try members(group["publicKey"])
            let (x, y) = (try coordinate(key["wx"]), try coordinate(key["wy"]))
            return try VerificationKey(p256: x, y).verifies(bytes(test["sig"]), of: bytes(test["msg"])[...])
        case "RsassaPkcs1Verify":
            let key = try members(group["publicKey"])
            let verifier = try VerificationKey(rsa: bytes(key["modulus"]), exponent: bytes(key["publicExponent"]))
            return verifier.verifies(try bytes(test["sig"]), of: try bytes(test["msg"])[...])
        case "MacTest":
            let secret = Secret(try bytes(test["key"]))
            guard secret.exposed.count >= 32 else { return nil }
            let isAccepted = try VerificationKey(secret: secret).verifies(try bytes(test["tag"]), of: try bytes(test["msg"])[...])
            return try integer(group["tagSize"]) == 256 || isAccepted ? isAccepted : nil
        case "JsonWebSignature", "JsonWebKey": return try verifyToken(test, by: try need(group["public"] ?? group["private"]))
        case let type: throw Unexpected(description: "vectors of the type \(type)")
        }
    }

    /// - Parameter jwk: a key, or a set of keys.
    private static func verifyToken(_ test: [String: [UInt8]], by jwk: [UInt8]) throws -> Bool? {
        let isSet = try members(jwk)["keys"] != nil
        let keys = try KeySet(jwks: isSet ? jwk : Array(#"{"keys":["#.utf8) + jwk + Array("]}".utf8), allowsSecrets: true)
        guard !keys.keys.isEmpty, let text = try? text(test["jws"]) else { return nil }
        do throws(TokenRefusal) {
            let token = try CompactToken(Array(text.utf8))
            return keys.candidates(token.algorithm, token.keyID).contains { $0.verifies(token.signature, of: token.signed) }
        } catch { return false }
    }

    // MARK: JSON

    struct Unexpected: Error { let description: String }

    private static func need<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Unexpected(description: "a member is missing") }
        return value
    }

    private static func members(_ json: [UInt8]?) throws -> [String: [UInt8]] {
        var reader = StrictReader(try need(json))
        var members: [String: [UInt8]] = [:]
        try reader.object("anything") { name, reader throws(TrustError) in
            members[name.text] = try reader.raw().json
            return true
        }
        return members
    }

    private static func elements(_ json: [UInt8]?) throws -> [[UInt8]] {
        var reader = StrictReader(try need(json))
        var elements: [[UInt8]] = []
        try reader.array(atMost: .max, "elements") { reader throws(TrustError) in elements.append(try reader.raw().json) }
        return elements
    }

    private static func text(_ json: [UInt8]?) throws -> String {
        var reader = StrictReader(try need(json))
        return try reader.string()
    }

    private static func integer(_ json: [UInt8]?) throws -> Int64 {
        var reader = StrictReader(try need(json))
        return try reader.integer()
    }

    /// The bytes of a hexadecimal text.
    private static func bytes(_ json: [UInt8]?) throws -> [UInt8] {
        let digits = Array(try text(json).utf8)
        return try stride(from: 0, to: digits.count, by: 2).map { place in
            try need(UInt8(String(decoding: digits[place..<min(place + 2, digits.count)], as: UTF8.self), radix: 16))
        }
    }

    /// A number of 32 bytes, which the files state with a sign or without its first zeros.
    private static func coordinate(_ json: [UInt8]?) throws -> [UInt8] {
        let digits = try bytes(json).drop { $0 == 0 }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw Unexpected(description: "\(path) cannot be read") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return bytes
    }
}
