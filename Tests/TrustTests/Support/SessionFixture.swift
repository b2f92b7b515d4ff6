@testable import FreshetTrust

/// A table, its revocations and a clock that moves both of its hands.
struct SessionFixture {
    var table = SessionTable()
    var revocations = RevocationList()
    var now = TimeReading(wall: 1_000_000, monotonic: 50_000)

    static func token(
        _ subject: String = "u7", issuer: String = "id", tokenID: String? = nil, issuedAt: Int64 = 900_000, expires: Int64 = 2_000_000
    ) -> VerifiedToken {
        VerifiedToken(
            principal: Principal(issuer: issuer, subject: subject), issuer: issuer, tokenID: tokenID, issuedAt: issuedAt, expires: expires,
            rights: .all)
    }

    mutating func pass(_ milliseconds: Int64) {
        now = TimeReading(wall: now.wall + milliseconds, monotonic: now.monotonic + milliseconds)
    }

    mutating func admit(_ credential: String, _ token: VerifiedToken = token()) -> String {
        Self.text(
            table.admit(
                Session(token, generation: revocations.generation, at: now), for: Array(credential.utf8), revocations: revocations, at: now)
        )
    }

    mutating func find(_ credential: String) -> String {
        Self.text(table.find(Array(credential.utf8), revocations: revocations, at: now))
    }

    private static func text(_ lookup: SessionTable.Lookup) -> String {
        switch lookup {
        case .session(let session): session.principal.text
        case .refused(let refusal): "\(refusal)"
        case .stale: "stale"
        case .unknown: "unknown"
        }
    }
}
