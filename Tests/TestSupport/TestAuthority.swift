import Glibc
import Subprocess

/// A certificate authority in a temporary folder, made by the `openssl` program, for tests of TLS.
package struct TestAuthority: Sendable {
    /// A certificate with its key, in files.
    package struct Identity: Sendable {
        package let chain: String
        package let key: String

        package init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    package enum KeyKind: String, Sendable, CaseIterable {
        case ecdsa = "EC:P-256"
        case rsa = "RSA:2048"
        /// Too weak for TLS.
        case weak = "RSA:1024"

        fileprivate var options: [String] {
            switch self {
            case .ecdsa: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case .rsa: ["-newkey", "rsa:2048"]
            case .weak: ["-newkey", "rsa:1024"]
            }
        }
    }

    /// Whether the `openssl` program is there.
    package static var isAvailable: Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/openssl", X_OK) == 0 }
    }

    private let folder = TemporaryDirectory()
    /// The path of the authority's certificate.
    package let certificate: String

    package init() async throws {
        certificate = folder.file("authority.pem")
        folder.write(Array("[req]\ndistinguished_name = name\n[name]\n".utf8), to: "openssl.cnf")
        try await Self.openssl(
            ["req", "-x509", "-config", folder.file("openssl.cnf"), "-subj", "/CN=Freshet tests", "-days", "30", "-nodes"]
                + KeyKind.ecdsa.options
                + [
                    "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                    "-keyout", folder.file("authority.key"), "-out", certificate,
                ])
    }

    /// Issues a certificate that is valid for 20 days; its file has the authority's too.
    ///
    /// - Parameters:
    ///   - name: of its files, and its common name.
    ///   - alternatives: the names and addresses that it is for, such as `DNS:localhost`.
    package func issue(
        _ name: String, for alternatives: String = "DNS:localhost,IP:127.0.0.1,IP:::1", _ kind: KeyKind = .ecdsa
    ) async throws -> Identity {
        let identity = Identity(chain: folder.file("\(name).pem"), key: folder.file("\(name).key"))
        try await Self.openssl(
            ["req", "-x509", "-config", folder.file("openssl.cnf"), "-subj", "/CN=\(name)", "-days", "20", "-nodes"] + kind.options
                + [
                    "-addext", "subjectAltName=\(alternatives)", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-CA", certificate, "-CAkey", folder.file("authority.key"), "-keyout", identity.key, "-out", identity.chain,
                ])
        return identity
    }

    /// The path of a copy of a key that takes a passphrase.
    package func encrypt(_ key: String) async throws -> String {
        let path = key + ".encrypted"
        try await Self.openssl(["pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", path])
        return path
    }

    /// The pin of a certificate's key: `sha256//` and the digest of its public key in base64.
    package func pin(_ identity: Identity) async throws -> String {
        try await Self.openssl(["pkey", "-in", identity.key, "-pubout", "-outform", "DER", "-out", identity.key + ".der"])
        try await Self.openssl(["dgst", "-sha256", "-binary", "-out", identity.key + ".digest", identity.key + ".der"])
        return "sha256//" + (try await Self.openssl(["base64", "-in", identity.key + ".digest"])).filter { $0 != "\n" }
    }

    /// Replaces a certificate's files by those of another.
    package func replace(_ identity: Identity, with other: Identity) throws {
        for (source, target) in [(other.chain, identity.chain), (other.key, identity.key)] where source != target {
            guard rename(source, target) == 0 else { throw CommandFailure(description: "\(target) was not replaced: errno \(errno)") }
        }
    }

    /// Writes a file into the authority's folder.
    package func write(_ bytes: [UInt8], to name: String) { folder.write(bytes, to: name) }

    /// A path in the authority's folder.
    package func file(_ name: String) -> String { folder.file(name) }

    /// Runs the program, and returns its output.
    @discardableResult
    package static func openssl(_ arguments: [String], input: String = "") async throws -> String {
        let result = try await run(
            .name("openssl"), arguments: Arguments(arguments), input: .string(input), output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20))
        guard case .exited(0) = result.terminationStatus else {
            throw CommandFailure(description: "openssl \(arguments) ended with \(result.terminationStatus): \(result.standardError)")
        }
        return result.standardOutput
    }
}
