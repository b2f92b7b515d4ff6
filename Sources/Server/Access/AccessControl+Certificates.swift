import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

extension AccessControl {
    /// The certificate of a request's connection as a credential; `nil` if its listener gives certificates no rights.
    func certificateCredential(of request: Request) throws(Problem) -> CertificateCredential? {
        guard let certificate = request.certificate else { return nil }
        return try policy.credential(of: certificate, from: request.listener)
    }

    /// The principal of a certificate that has opened no session; `nil` for a request with another credential.
    func refusedCertificate(of request: Request?) -> Principal? {
        guard let request, !request.has(.authorization), let credential = try? certificateCredential(of: request) else { return nil }
        return Principal(certificateName: credential.name)
    }
}
