internal import CFreshetCurl

extension TransportError {
    /// Converts libcurl's result code.
    ///
    /// - Parameters:
    ///   - limit: the request's limit of the response.
    ///   - proxy: the proxy of the request.
    init(_ code: CURLcode, text: String, limit: Int, proxy: String? = nil) {
        let text = proxy.map { "\(text), through \($0)" } ?? text
        self =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .couldNotResolve(text)
            case CURLE_COULDNT_CONNECT: .couldNotConnect(text)
            case CURLE_OPERATION_TIMEDOUT: .timedOut(proxy: proxy)
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .untrusted(text)
            case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .wrongKey(text)
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
                CURLE_SSL_ENGINE_INITFAILED:
                .tls(text)
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND: .connectionLost(text)
            // libcurl reports "unsupported protocol" for a status line that it refuses as well as for a URL.
            case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM: .malformedResponse(text)
            case CURLE_UNSUPPORTED_PROTOCOL: text.hasPrefix("Protocol ") ? .invalidRequest(text) : .malformedResponse(text)
            case CURLE_FILESIZE_EXCEEDED: .tooLarge(limit: limit)
            case CURLE_URL_MALFORMAT: .invalidRequest(text)
            case CURLE_ABORTED_BY_CALLBACK: .aborted
            default: .failed(code: Int(code.rawValue), text)
            }
    }
}
