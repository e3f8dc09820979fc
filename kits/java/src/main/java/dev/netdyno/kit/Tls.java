package dev.netdyno.kit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** TLS as a trial asks for it: PEM texts (CONTRACT.md, section setup), of version 1.3. */
public final class Tls {
  private static final String[] VERSIONS = {"TLSv1.3"};
  private static final char[] NO_PASSWORD = new char[0];

  private SSLContext context; // once it is asked for
  public final String authorities;
  public final String certificate;
  public final String key;

  Tls(Fields f) {
    authorities = f.text("authorities");
    certificate = f.text("certificate");
    key = f.text("key");
  }

  /** A server's end of a connection by Java's own TLS. */
  public SSLEngine engine() {
    return ready(context(true).createSSLEngine(), false);
  }

  /** A client's end of a connection, which checks that the certificate has the peer's address. */
  public SSLEngine engine(InetSocketAddress peer) {
    return ready(context(false).createSSLEngine(peer.getAddress().getHostAddress(), peer.getPort()), true);
  }

  private static SSLEngine ready(SSLEngine engine, boolean client) {
    engine.setUseClientMode(client);
    engine.setSSLParameters(asked(engine.getSSLParameters(), client));
    return engine;
  }

  private static SSLParameters asked(SSLParameters parameters, boolean client) {
    parameters.setProtocols(VERSIONS);
    if (client) parameters.setEndpointIdentificationAlgorithm("HTTPS");
    return parameters;
  }

  /** A server's socket that is not bound yet: plain, or encrypting where a setup says so. */
  public static ServerSocket listener(Setup s) throws IOException {
    if (s.tls == null) return new ServerSocket();
    SSLServerSocket listener = (SSLServerSocket) s.tls.context(true).getServerSocketFactory().createServerSocket();
    listener.setSSLParameters(asked(listener.getSSLParameters(), false));
    return listener;
  }

  /** A client's socket that is not connected yet. */
  public static Socket socket(Setup s) throws IOException {
    if (s.tls == null) return new Socket();
    SSLSocket socket = (SSLSocket) s.tls.context(false).getSocketFactory().createSocket();
    socket.setSSLParameters(asked(socket.getSSLParameters(), true));
    return socket;
  }

  /** A PEM text as libraries read it. */
  public static InputStream stream(String pem) {
    return new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8));
  }

  /** The context of the process's one end. A server shows its certificate, a client trusts the trial's authorities alone. A Failure of kind setup says what is wrong with the texts. */
  public synchronized SSLContext context(boolean server) {
    if (context != null) return context;
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, NO_PASSWORD);
      SSLContext made = SSLContext.getInstance("TLS");
      if (server) {
        store.setKeyEntry("key", privateKey(), NO_PASSWORD, certificates(certificate).toArray(Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, NO_PASSWORD);
        made.init(keys.getKeyManagers(), null, null);
      } else {
        int i = 0;
        for (Certificate c : certificates(authorities)) store.setCertificateEntry("authority " + i++, c);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        made.init(null, trust.getTrustManagers(), null);
      }
      context = made;
      return made;
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw Failure.setup("read setup.tls: " + Failure.textOf(e));
    }
  }

  private static Collection<? extends Certificate> certificates(String pem) throws GeneralSecurityException {
    return CertificateFactory.getInstance("X.509").generateCertificates(stream(pem));
  }

  private PrivateKey privateKey() throws GeneralSecurityException {
    byte[] der = Base64.getMimeDecoder().decode(key.replaceAll("-----[^-]*-----", ""));
    GeneralSecurityException last = null;
    for (String algorithm : new String[] {"EC", "RSA", "Ed25519"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (GeneralSecurityException e) {
        last = e;
      }
    }
    throw last;
  }
}
