//! What a node shows, and what it accepts.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, ClientConfig, Resumption};
use rustls::crypto::ring::{self, cipher_suite, kx_group, sign};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, ServerConfig};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible, SignatureScheme,
};

use super::Unavailable;
use crate::auth::Secret;

/// What the key is derived as. Nothing else is proved under this name, so the key never crosses the wire.
const PURPOSE: &str = "talisman tls key";
/// What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, section 7).
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// How connections of one job are encrypted. Cheap to clone.
#[derive(Clone)]
pub struct Credentials {
    pub(super) dials: Arc<ClientConfig>,
    pub(super) accepts: Arc<ServerConfig>,
}

impl Credentials {
    /// Of the job with this secret.
    ///
    /// # Errors
    /// None that is known of: what the library may say of a key or a setting.
    pub fn of(secret: &Secret) -> Result<Credentials, Unavailable> {
        Credentials::with(secret, provider())
    }

    pub(super) fn with(secret: &Secret, provider: CryptoProvider) -> Result<Credentials, Unavailable> {
        let (key, provider) = (key(secret)?, Arc::new(provider));
        let pin = Arc::new(Pin {
            key: key.cert[0].to_vec(),
            algorithms: provider.signature_verification_algorithms,
        });
        Ok(Credentials {
            dials: Arc::new(dials(&provider, &pin, &key)?),
            accepts: Arc::new(accepts(&provider, &pin, &key)?),
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

fn key(secret: &Secret) -> Result<Arc<CertifiedKey>, Error> {
    let document = [&PKCS8[..], &secret.prove(PURPOSE, &[])].concat();
    let key = sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(document))?;
    let public = key.public_key().ok_or(PeerIncompatible::UnsolicitedCertificateTypeExtension)?;
    let public = CertificateDer::from(public.as_ref().to_vec());
    Ok(Arc::new(CertifiedKey::new(vec![public], key)))
}

/// One of each: both ends are the same program, so that nothing is to be negotiated. All with a strength of 128 bits.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![kx_group::X25519],
        ..ring::default_provider()
    }
}

fn dials(
    provider: &Arc<CryptoProvider>,
    pin: &Arc<Pin>,
    key: &Arc<CertifiedKey>,
) -> Result<ClientConfig, Error> {
    let shown = Arc::new(AlwaysResolvesClientRawPublicKeys::new(key.clone()));
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin.clone())
        .with_client_cert_resolver(shown);
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

fn accepts(
    provider: &Arc<CryptoProvider>,
    pin: &Arc<Pin>,
    key: &Arc<CertifiedKey>,
) -> Result<ServerConfig, Error> {
    let shown = Arc::new(AlwaysResolvesServerRawPublicKeys::new(key.clone()));
    let mut config = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(pin.clone())
        .with_cert_resolver(shown);
    // A link that breaks is dialled again in full: connections are few, and nothing has to be remembered.
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Accepts one public key, on either side.
#[derive(Debug)]
struct Pin {
    /// As a SubjectPublicKeyInfo.
    key: Vec<u8>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let same = shown.as_ref() == self.key;
        if same { Ok(()) } else { Err(CertificateError::ApplicationVerificationFailure.into()) }
    }

    fn check_signature(
        &self,
        said: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(said, &key, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        said: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(said, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        said: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(said, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
