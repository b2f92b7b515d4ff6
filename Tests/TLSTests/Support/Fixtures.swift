import FreshetPlatform
import FreshetTLS
import FreshetTestSupport

extension TestAuthority.Identity {
    var settings: TLSSettings { TLSSettings(certificates: [CertificateFiles(chain: chain, key: key)]) }
}

extension Int64 {
    /// Seconds since 1970.
    static var now: Int64 { SystemClock.wallMilliseconds / 1_000 }
}
