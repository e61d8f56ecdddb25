package io.github.pulsarspark.policy

import java.net.URI

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/** The one check of places on Hadoop's file systems, which the server reads and writes with its own credentials. */
private[pulsarspark] object AllowedStorage {

  /** Fails unless the place is below one of the policy. */
  def check(option: String, location: String, conf: => Configuration): Unit =
    if (!allows(location, conf)) throw Refused(option, s"the location $location", PolicyKeys.Storage)

  /** Reason why a place that no option names may not be read; None if it may be. */
  def obstacle(location: String, conf: => Configuration): Option[String] =
    Option.unless(allows(location, conf))(s"${PolicyKeys.Prefix}${PolicyKeys.Storage} does not list $location")

  private def allows(location: String, conf: => Configuration): Boolean =
    Policy.now().forall(allows(_, location, conf))

  private[policy] def allows(policy: Policy, location: String, conf: Configuration): Boolean =
    whole(location, conf).exists(place => policy.storage.exists(_.covers(place)))

  /** The URI with the scheme and the host that Hadoop gives to a path without; None for one that is not absolute. */
  private def whole(location: String, conf: Configuration): Option[URI] = Try {
    val uri    = new Path(location).toUri
    val own    = FileSystem.getDefaultUri(conf)
    val scheme = Option(uri.getScheme).getOrElse(own.getScheme)
    val host   = Option(uri.getAuthority).orElse(
      Option.when(scheme.equalsIgnoreCase(own.getScheme))(own.getAuthority).flatMap(Option(_))
    )
    val path = if (uri.getPath.isEmpty && uri.getAuthority != null) "/" else uri.getPath
    new URI(scheme, host.orNull, path, null, null)
  }.toOption.filter(_.getPath.startsWith("/"))
}
