import Testing

@testable import FreshetTrust

/// The signatures of Project Wycheproof, by `scripts/check-wycheproof`.
@Suite("Vectors of Wycheproof", .enabled(if: WycheproofVectors.folder != nil)) struct WycheproofTests {
    /// Vectors that contradict themselves or ask for more than tokens do, each with the reason.
    private static let exceptions = [
        "invalidBase64Padding": "is the text of a valid vector", "invalidBase64PaddingInPayload": "is the text of a valid vector",
        "InvalidCharacterInsertedInHeader": "has a character that base64url has not, and is called valid",
        "InvalidCharacterInsertedInPayload": "has a character that base64url has not, and is called valid",
        "rejectsKeyWithRocaVulnerability": "asks whether an issuer's own key was made by a broken generator",
    ]

    @Test("A signature is accepted if it is valid", arguments: WycheproofVectors.files)
    func signatures(_ name: String) throws {
        // Given
        let folder = try #require(WycheproofVectors.folder)
        // When
        let vectors = try WycheproofVectors(name, in: folder).vectors
        // Then
        for vector in vectors where vector.expected != .acceptable && Self.exceptions[vector.comment] == nil {
            guard let isAccepted = vector.isAccepted else { continue }
            #expect(
                isAccepted == (vector.expected == .valid),
                "\(vector.number), '\(vector.comment)' \(vector.flags), is \(vector.expected)")
        }
        func count(_ expected: WycheproofVectors.Vector.ExpectedResult, _ isAccepted: Bool?) -> Int {
            vectors.count { $0.expected == expected && $0.isAccepted == isAccepted }
        }
        print(
            "wycheproof \(name): valid \(count(.valid, true)) accepted \(count(.valid, false)) refused; invalid "
                + "\(count(.invalid, true)) accepted \(count(.invalid, false)) refused; acceptable \(count(.acceptable, true)) accepted "
                + "\(count(.acceptable, false)) refused; of no use in a token \(vectors.count { $0.isAccepted == nil })")
    }
}
