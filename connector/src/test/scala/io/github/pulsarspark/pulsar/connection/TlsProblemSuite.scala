package io.github.pulsarspark.pulsar.connection

import java.io.EOFException
import java.security.cert.{CertPathBuilderException, CertPathValidatorException, CertificateException, CertificateExpiredException, CertificateNotYetValidException}
import javax.net.ssl.{SSLException, SSLHandshakeException}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.Conditions

/** Tests the texts of failures as the JDK has them. Integration tests make them with real certificates. */
class TlsProblemSuite extends UnitSuite {

  private def named(failures: Throwable*): (String, String) = {
    failures.sliding(2).foreach { case Seq(outer, cause) => outer.initCause(cause); case _ => () }
    val problem = TlsProblem.of("h:6651", failures.head)
    problem.occurrence("Connecting", "pulsar+ssl://h").condition.name.stripPrefix("PULSAR_TLS_FAILED.") -> problem.cause
  }

  test("a failure of TLS, the condition of its reason") {
    val handshake = () => new SSLHandshakeException("PKIX")
    assertEquals(named(handshake(), new CertPathBuilderException("unable to find valid certification path"))._1,
      "AUTHORITY")
    assertEquals(named(handshake(), new CertPathValidatorException("signature check failed"))._1, "AUTHORITY")
    val other = named(handshake(), new CertificateException("No subject alternative DNS name matching h found."))
    assertEquals(other,
      "HOST_NAME" -> "the certificate of h:6651 was not accepted (No subject alternative DNS name matching h found)")
    val expired = new CertPathValidatorException("validity check failed", new CertificateExpiredException("NotAfter"))
    assertEquals(named(handshake(), expired)._1, "VALIDITY")
    assertEquals(named(handshake(), new CertificateNotYetValidException("NotBefore"))._1, "VALIDITY")
    assertEquals(named(new SSLException("Unsupported or unrecognized SSL message"))._1, "NO_TLS")
    assertEquals(named(handshake(), new EOFException("SSL peer shut down incorrectly"))._1, "NO_TLS")
    assertEquals(
      named(new SSLHandshakeException("Received fatal alert: protocol_version")),
      "HANDSHAKE" -> "h:6651 ended the TLS handshake (Received fatal alert: protocol_version)"
    )
  }

  test("the parts of PULSAR_TLS_FAILED, each a condition") {
    val names = Seq("PULSAR_TLS_FAILED.AUTHORITY", "PULSAR_TLS_FAILED.HOST_NAME", "PULSAR_TLS_FAILED.VALIDITY",
      "PULSAR_TLS_FAILED.NO_TLS", "PULSAR_TLS_FAILED.HANDSHAKE")
    assertEquals(Conditions.all.map(_.name).filter(_.startsWith("PULSAR_TLS_FAILED")), names)
  }
}
