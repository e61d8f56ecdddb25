package io.github.pulsarspark.pulsar.connection

import java.io.ByteArrayInputStream
import java.net.Socket
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.security.{KeyStore, SecureRandom}
import java.security.cert.{CertificateException, CertificateFactory, X509Certificate}
import java.util.Base64
import javax.net.ssl.{KeyManager, SSLContext, SSLEngine, TrustManager, TrustManagerFactory, X509ExtendedTrustManager}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.NamedFile

/** Makes the contexts of TLS handshakes that are not the client's. Their handshakes show no certificate of this side.
  */
private[connection] object TlsContexts {

  private val Certificate =
    "-----BEGIN [^-\r\n]*CERTIFICATE-----([A-Za-z0-9+/=\\s]+)-----END [^-\r\n]*CERTIFICATE-----".r

  /** Trusts any certificate. It is for handshakes after which nothing is sent. */
  def trustingAny: SSLContext = context(Array(AnyCertificate))

  /** Trusts those authorities that this JVM trusts. */
  def trustingDefaults: SSLContext = trusting(None)

  /** Trusts the authorities in a PEM file alone; fails with the name of the option if it holds none. */
  def trustingFile(option: String, file: String): SSLContext = {
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, null)
    certificates(option, file).zipWithIndex.foreach { case (one, i) => store.setCertificateEntry(i.toString, one) }
    trusting(Some(store))
  }

  /** Certificates of a file. What else is in it is skipped, as the client does. */
  def certificates(option: String, file: String): Seq[X509Certificate] = {
    def refused = Conditions.FileNotPem(option = option, file = file).exception
    val factory = CertificateFactory.getInstance("X.509")
    val found   = Certificate.findAllMatchIn(new String(NamedFile.read(option, file), ISO_8859_1)).map(_.group(1)).toSeq
    val all     =
      try found.map(text => factory.generateCertificate(new ByteArrayInputStream(Base64.getMimeDecoder.decode(text))))
      catch { case _: CertificateException | _: IllegalArgumentException => throw refused }
    if (all.isEmpty) throw refused else all.collect { case one: X509Certificate => one }
  }

  private def trusting(authorities: Option[KeyStore]): SSLContext = {
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    factory.init(authorities.orNull)
    context(factory.getTrustManagers)
  }

  private def context(trust: Array[TrustManager]): SSLContext = {
    val made = SSLContext.getInstance("TLS")
    made.init(Array.empty[KeyManager], trust, new SecureRandom)
    made
  }

  /** Accepts whatever is shown. It is of the extended kind, because the JDK adds checks of its own to the other. */
  private object AnyCertificate extends X509ExtendedTrustManager {
    private type Chain = Array[X509Certificate]
    override def checkClientTrusted(chain: Chain, kind: String): Unit                    = ()
    override def checkServerTrusted(chain: Chain, kind: String): Unit                    = ()
    override def checkClientTrusted(chain: Chain, kind: String, socket: Socket): Unit    = ()
    override def checkServerTrusted(chain: Chain, kind: String, socket: Socket): Unit    = ()
    override def checkClientTrusted(chain: Chain, kind: String, engine: SSLEngine): Unit = ()
    override def checkServerTrusted(chain: Chain, kind: String, engine: SSLEngine): Unit = ()
    override def getAcceptedIssuers: Chain                                               = Array.empty
  }
}
