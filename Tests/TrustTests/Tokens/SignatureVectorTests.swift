import Testing

@testable import FreshetTrust

/// The examples of the RFCs.
struct SignatureVectorTests {
    private static let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text.utf8)) }

    private static func check(_ key: VerificationKey, _ signed: String, _ signature: String) throws {
        // When
        let (message, signature) = (Array(signed.utf8)[...], try bytes(signature))
        // Then
        #expect(key.verifies(signature, of: message))
        for bit in [0, 7, signature.count * 4, signature.count * 8 - 1] {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.verifies(changed, of: message), "bit \(bit)")
        }
        #expect(!key.verifies(signature, of: message.dropLast()) && !key.verifies(signature, of: []))
        #expect(
            !key.verifies([], of: message) && !key.verifies(signature.dropLast(), of: message)
                && !key.verifies(signature + [0], of: message))
    }

    @Test func hs256OfRFC7515A1() throws {
        let secret = try Self.bytes("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        try Self.check(
            VerificationKey(secret: Secret(secret)), "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(Self.claims)",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test func rs256OfRFC7515A2() throws {
        let modulus = try Self.bytes(
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs"
                + "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xs"
                + "mtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ")
        try Self.check(
            VerificationKey(rsa: modulus, exponent: Self.bytes("AQAB")), "eyJhbGciOiJSUzI1NiJ9.\(Self.claims)",
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ"
                + "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwu"
                + "sC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
    }

    @Test func es256OfRFC7515A3() throws {
        let key = try VerificationKey(
            p256: Self.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"), Self.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        try Self.check(
            key, "eyJhbGciOiJFUzI1NiJ9.\(Self.claims)",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
    }

    @Test func edDSAOfRFC8037A4() throws {
        let key = try VerificationKey(ed25519: Self.bytes("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        try Self.check(
            key, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
    }

    @Test(
        "base64url has one text for each bytes", arguments: [("", ""), ("AA", "\0"), ("AAA", "\0\0"), ("AAAA", "\0\0\0"), ("Zm9v", "foo")])
    func base64URL(text: String, bytes: String) {
        #expect(Base64URL.decode(text.utf8) == Array(bytes.utf8))
        #expect(Base64URL.encode(bytes.utf8) == Array(text.utf8))
    }

    @Test(
        "other texts are no base64url",
        arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", "A+AA", "A/AA", "AA.A", "\u{E9}A"])
    func notBase64URL(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
