//! TLS 1.3 by rustls, with the trial's own certificates.

use crate::Stream;
use netdyno_kit::net::{Route, PATIENCE};
use netdyno_kit::{Failure, Kind, Setup};
use netdyno_kit_tokio::dial;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{verify_server_name, WebPkiServerVerifier};
use tokio_rustls::rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig, SignatureScheme};
use tokio_rustls::{TlsAcceptor, TlsConnector};

fn refuse(what: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::Setup, format!("read setup.tls.{what}: {why}"))
}

fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().map_err(|e| refuse(what, e))?;
    if all.is_empty() {
        return Err(refuse(what, "found no certificate, expected PEM text with at least one"));
    }
    Ok(all)
}

/// How a server takes connections: plain, or encrypted where the trial is.
#[derive(Clone)]
pub struct Acceptor(Option<TlsAcceptor>);

impl Acceptor {
    pub fn new(setup: &Setup, protocol: &str) -> Result<Acceptor, Failure> {
        Ok(Acceptor(Acceptor::config(setup, protocol)?.map(|c| TlsAcceptor::from(Arc::new(c)))))
    }

    /// How it encrypts; None for a plain trial.
    pub fn config(setup: &Setup, protocol: &str) -> Result<Option<ServerConfig>, Failure> {
        let Some(tls) = &setup.tls else { return Ok(None) };
        let key = PrivateKeyDer::from_pem_slice(tls.key.as_bytes()).map_err(|e| refuse("key", e))?;
        let chain = certificates(&tls.certificate, "certificate")?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .and_then(|c| c.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|e| refuse("certificate and key", e))?;
        config.alpn_protocols = vec![protocol.into()];
        Ok(Some(config))
    }

    /// The stream of a connection that was accepted.
    pub async fn accept(&self, conn: TcpStream) -> std::io::Result<Stream> {
        Ok(match &self.0 {
            None => Stream::Plain(conn),
            Some(tls) => Stream::Tls(Box::new(tls.accept(conn).await?.into())),
        })
    }
}

/// Trusts the trial's authorities, and a server that shows one of them as its own certificate, which rustls
/// alone refuses and Go and OpenSSL take.
#[derive(Debug)]
struct Trust {
    authorities: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
}

impl Trust {
    fn new(pem: &str) -> Result<Trust, Failure> {
        let authorities = certificates(pem, "authorities")?;
        let mut trusted = RootCertStore::empty();
        for one in &authorities {
            trusted.add(one.clone()).map_err(|e| refuse("authorities", e))?;
        }
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(trusted), Arc::new(ring::default_provider()));
        Ok(Trust { authorities, chains: chains.build().map_err(|e| refuse("authorities", e))? })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self, shown: &CertificateDer<'_>, between: &[CertificateDer<'_>], name: &ServerName<'_>, ocsp: &[u8], now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.chains.verify_server_cert(shown, between, name, ocsp, now);
        match &verified {
            // Its dates were checked before that.
            Err(Error::InvalidCertificate(CertificateError::Other(why)))
                if why.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) && self.authorities.iter().any(|a| a == shown) =>
            {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            _ => verified,
        }
    }

    fn verify_tls12_signature(
        &self, message: &[u8], shown: &CertificateDer<'_>, signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self, message: &[u8], shown: &CertificateDer<'_>, signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// How a client makes connections: plain, or encrypted where the trial is.
#[derive(Clone)]
pub struct Connector(Option<TlsConnector>);

impl Connector {
    pub fn new(setup: &Setup, protocol: &str) -> Result<Connector, Failure> {
        Ok(Connector(Connector::config(setup, protocol)?.map(|c| TlsConnector::from(Arc::new(c)))))
    }

    /// How it encrypts; None for a plain trial. It trusts the trial's authorities alone.
    pub fn config(setup: &Setup, protocol: &str) -> Result<Option<ClientConfig>, Failure> {
        let Some(tls) = &setup.tls else { return Ok(None) };
        let trust = Trust::new(&tls.authorities)?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| refuse("authorities", e))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust))
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.into()];
        Ok(Some(config))
    }

    /// Makes a connection, within PATIENCE.
    pub async fn connect(&self, route: &Route) -> std::io::Result<Stream> {
        let made = async {
            let conn = dial(route).await?;
            Ok(match &self.0 {
                None => Stream::Plain(conn),
                Some(tls) => Stream::Tls(Box::new(tls.connect(ServerName::IpAddress(route.peer.ip().into()), conn).await?.into())),
            })
        };
        tokio::time::timeout(PATIENCE, made).await.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Its own authority, of 127.0.0.1, with the dates below.
    const OWN: &str = "\
-----BEGIN CERTIFICATE-----
MIIBijCCATCgAwIBAgIUUbGHb0BvUjxQn4WtxKAqbMxoFXgwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHbmV0ZHlubzAeFw0yNjExMjcxODIzNTJaFw0zNjExMjQxODIz
NTJaMBIxEDAOBgNVBAMMB25ldGR5bm8wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQMRuicAvtkDdLCVOY1gxICm8P3+bnS+oxym/R1UBkT7rUCITNMuDMCV2Yi1bEj
TYbadV62DRJ5nXTNdYe1cTGKo2QwYjAdBgNVHQ4EFgQUrOo6RydGKv0VWzczgn7u
n68CBbIwHwYDVR0jBBgwFoAUrOo6RydGKv0VWzczgn7un68CBbIwDwYDVR0RBAgw
BocEfwAAATAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCdUO4v
kp7igaBrrUOF3yOK1lDbZ9+QefK7wCOxOgMuJwIgWz3u1lEIRgQIZLMvs2O4xGv/
a3Bf7PHQINUTELBZn14=
-----END CERTIFICATE-----
";
    const NOT_BEFORE: u64 = 1795_803_832;
    const NOT_AFTER: u64 = 2111_163_832;

    #[test]
    fn a_server_that_is_its_own_authority_is_looked_at() {
        let trust = Trust::new(OWN).unwrap();
        let shown = certificates(OWN, "certificate").unwrap();
        let verify = |name: &str, at| {
            let name = ServerName::try_from(name.to_string()).unwrap();
            trust.verify_server_cert(&shown[0], &[], &name, &[], UnixTime::since_unix_epoch(Duration::from_secs(at))).map(drop)
        };
        assert_eq!(verify("127.0.0.1", NOT_BEFORE + 1), Ok(()));
        assert!(matches!(verify("127.0.0.1", NOT_AFTER + 1), Err(Error::InvalidCertificate(CertificateError::ExpiredContext { .. }))));
        assert!(matches!(verify("127.0.0.1", NOT_BEFORE - 1), Err(Error::InvalidCertificate(CertificateError::NotValidYetContext { .. }))));
        assert!(verify("127.0.0.2", NOT_BEFORE + 1).is_err());
    }
}
