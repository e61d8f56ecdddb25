package io.github.pulsarspark.policy

import java.net.URI
import java.nio.file.Path

import scala.util.Try

/** The one check of what credentials refer to: files, hosts, or a secret in their own text. */
private[pulsarspark] object AllowedSecrets {

  /** Fails unless credentials are in a file of the policy, or in a `data:` URL where the policy lists these. */
  def checkUrl(option: String, url: String): Unit = Policy.now().foreach(checkUrl(_, option, url))

  /** Fails where a parameter of a plug-in refers to something that the policy does not list.
    *
    * @param isPath
    *   whether it is a path, however it looks
    */
  def checkParameter(option: String, value: String, isPath: Boolean): Unit =
    Policy.now().foreach(checkParameter(_, option, value, isPath))

  private[policy] def checkUrl(policy: Policy, option: String, url: String): Unit = schemeOf(url) match {
    case Some("file") => checkFile(policy, option, url)
    case Some("data") => checkInline(policy, option)
    case _            => throw AllowedFiles.refused(option, Hidden)
  }

  private[policy] def checkParameter(policy: Policy, option: String, value: String, isPath: Boolean): Unit =
    schemeOf(value) match {
      case Some("file")                             => checkFile(policy, option, value)
      case Some("data")                             => checkInline(policy, option)
      case Some(scheme) if Opening(scheme)          => throw AllowedFiles.refused(option, Hidden)
      case Some(_) if value.contains("://")         => AllowedHosts.checkUrl(policy, option, value)
      case _ if value.trim.startsWith("{")          => throw AllowedFiles.refused(option, Hidden) // not JSON for us
      case _ if isPath || looksLikePath(value.trim) => checkPath(policy, option, Try(Path.of(value)).toOption)
      case _                                        => ()
    }

  private def checkFile(policy: Policy, option: String, url: String): Unit = {
    val plain = Try(new URI(url)).toOption.filter(u => Option(u.getAuthority).forall(_.isEmpty) && u.getPath != null)
    checkPath(policy, option, plain.flatMap(u => Try(Path.of(u.getPath)).toOption))
  }

  private def checkPath(policy: Policy, option: String, file: Option[Path]): Unit =
    file.fold(throw AllowedFiles.refused(option, Hidden))(AllowedFiles.check(policy, option, _, Hidden))

  private def checkInline(policy: Policy, option: String): Unit =
    if (!policy.inlineSecrets) throw Refused(option, "a secret in the option itself", PolicyKeys.InlineSecrets)

  /** The scheme of a URL as Java reads it: spaces before it do not count, nor does the prefix `url:`. */
  private def schemeOf(text: String): Option[String] = text.trim.toLowerCase match {
    case Url(scheme, rest) => if (scheme == "url") schemeOf(rest) else Some(scheme)
    case _                 => None
  }

  private val Url = "(?s)([a-z][a-z0-9+.-]*):(.*)".r

  /** Schemes by which Java opens something that is behind another URL, or a host in another way than HTTP. */
  private val Opening = Set("jar", "ftp", "jrt", "mailto", "nested", "jmod", "gopher")

  private def looksLikePath(value: String) = Seq("/", "~", "./", "../").exists(value.startsWith(_))

  /** The name of a file in credentials: a token that was given as a file would be shown. */
  private val Hidden = "***"
}
