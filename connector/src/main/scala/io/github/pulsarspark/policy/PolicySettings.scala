package io.github.pulsarspark.policy

import java.nio.file.{InvalidPathException, Path}

import io.github.pulsarspark.errors.Conditions

/** The policy that the settings `spark.pulsar.policy.*` make. */
private[policy] object PolicySettings {
  import PolicyKeys._

  /** The policy by settings without their prefix; None in the mode `open`. Every mistake fails, as a setting that is
    * ignored would leave a server open.
    */
  def policy(settings: Map[String, String]): Option[Policy] = {
    settings.keys.toSeq.sorted.find(!All.contains(_)).foreach(key =>
      throw invalid(key, settings(key), s"one of the settings ${All.map(Prefix + _).mkString(", ")}")
    )
    val policy = Policy(
      files = list(settings, Files).map(folder),
      inlineSecrets = flag(settings, InlineSecrets),
      hosts = list(settings, Hosts).map(text => HostPattern.parse(text).getOrElse(throw invalid(Hosts, text, Host))),
      classes = list(settings, Classes).toSet,
      storage =
        list(settings, Storage).map(text => StoragePrefix.parse(text).getOrElse(throw invalid(Storage, text, Uri))),
      insecure = flag(settings, Insecure)
    )
    settings.get(Mode).map(_.trim.toLowerCase) match {
      case Some("shared")           => Some(policy)
      case Some("open")             => None
      case None if settings.isEmpty => None
      case None                     => throw invalid(Mode, "", s"$Modes, because other settings of a policy are there")
      case Some(_)                  => throw invalid(Mode, settings(Mode), Modes)
    }
  }

  private val Modes = "`open` or `shared`"
  private val Host  = "a list of `name:port`, where `*` in a name stands for any text, and `*` as a port for any port"
  private val Uri   = "a list of absolute URIs with a scheme, such as `s3a://bucket/folder`"

  private def list(settings: Map[String, String], key: String): Seq[String] =
    settings.get(key).fold(Seq.empty[String])(_.split(',').toSeq.map(_.trim).filter(_.nonEmpty))

  private def flag(settings: Map[String, String], key: String): Boolean = settings.get(key).exists { text =>
    text.trim.toLowerCase.toBooleanOption.getOrElse(throw invalid(key, text, "`true` or `false`"))
  }

  private def folder(text: String): Path = {
    val path =
      try Path.of(text)
      catch { case _: InvalidPathException => throw invalid(Files, text, Folder) }
    if (path.isAbsolute) path else throw invalid(Files, text, Folder)
  }

  private val Folder = "a list of absolute paths of folders"

  private def invalid(key: String, value: String, allowed: String) =
    Conditions.PolicyInvalid(key = Prefix + key, value = value, allowed = allowed).exception
}
