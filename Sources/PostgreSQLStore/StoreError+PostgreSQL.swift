#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer

extension StoreError {
    init(_ error: PostgreSQLError, label: String) {
        self =
            switch error.category {
            case .diskFull: .full(path: label)
            case .unreachable, .connectionLost, .timedOut, .tooManyConnections, .readOnly:
                .unavailable(path: label, reason: error.description)
            case .lockTimeout, .collision, .cancelled: .overloaded(path: label, reason: error.description)
            case .refused, .insufficientPrivilege: .unusable(path: label, reason: error.description)
            case .invalidURI, .schema, .pooled, .constraint, .value, .serverFailure, .misuse:
                .failed(path: label, reason: error.description)
            }
    }

    static func from(_ error: any Error, label: String) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as PostgreSQLError: StoreError(error, label: label)
        // A row has content that the wire does not allow: Freshet did not write it.
        default: .corrupt(path: label, reason: String(describing: error))
        }
    }
}
#endif
