package io.github.pulsarspark.pulsar.connection

import java.io.EOFException
import java.security.cert.{CertPathBuilderException, CertPathValidatorException, CertificateException, CertificateExpiredException, CertificateNotYetValidException}

import io.github.pulsarspark.errors.{Conditions, Occurrence}

/** Reason why a TLS handshake with a host fails, with its one remedy.
  *
  * @param cause
  *   host and reason in words
  * @param condition
  *   makes the condition of: what failed, the address of the service, the cause
  */
private[pulsarspark] final class TlsProblem private (
    val cause: String,
    condition: (String, String, String) => Occurrence
) {

  /** @param what
    *   the sentence's subject in an error, such as "Connecting"
    */
  def occurrence(what: String, url: String): Occurrence = condition(what, url, cause)
}

private[pulsarspark] object TlsProblem {

  /** Finds the reason in a failure of Java's TLS. The JDK has no class for the wrong host and none for a port that
    * speaks something else, so that their texts tell them.
    */
  def of(hostAndPort: String, failure: Throwable): TlsProblem = {
    val causes                  = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).toSeq
    val root                    = causes.last
    def says(text: String)      = causes.exists(c => Option(c.getMessage).exists(_.contains(text)))
    def has(classes: Class[_]*) = causes.exists(c => classes.exists(_.isInstance(c)))
    def certificate             = refused(hostAndPort, failure)
    def no(what: String)        = s"$hostAndPort $what (${reason(root)})"
    if (has(classOf[CertificateExpiredException], classOf[CertificateNotYetValidException]))
      new TlsProblem(certificate, Conditions.TlsFailedValidity(_, _, _))
    else if (has(classOf[CertPathBuilderException], classOf[CertPathValidatorException]))
      new TlsProblem(certificate, Conditions.TlsFailedAuthority(_, _, _))
    else if (has(classOf[CertificateException]))
      if (says("matching")) new TlsProblem(certificate, Conditions.TlsFailedHostName(_, _, _))
      else new TlsProblem(certificate, Conditions.TlsFailedAuthority(_, _, _))
    else if (has(classOf[EOFException]) || says("Unsupported or unrecognized SSL message"))
      new TlsProblem(no("does not speak TLS"), Conditions.TlsFailedNoTls(_, _, _))
    else new TlsProblem(no("ended the TLS handshake"), Conditions.TlsFailedHandshake(_, _, _))
  }

  /** Text for a certificate that is not accepted. */
  def refused(hostAndPort: String, failure: Throwable): String = {
    val root = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).toSeq.last
    s"the certificate of $hostAndPort was not accepted (${reason(root)})"
  }

  private def reason(root: Throwable) =
    Option(root.getMessage).fold(root.getClass.getSimpleName)(_.trim.stripSuffix("."))
}
