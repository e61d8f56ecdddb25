package io.github.pulsarspark.storage.offload

import java.net.URI

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.storage.offload.format.{BlockFormat, MapFileFormat, OffloadFormat, OffloadLocation, OffloadPolicies}

/** Finds the location of a topic's offloaded ledgers, by options and the offload policies of the topic or its
  * namespace. Left: the reason why it is unknown.
  */
private[offload] object OffloadLocations {

  /** The one list of formats. */
  private val formats: Seq[OffloadFormat] = Seq(BlockFormat, MapFileFormat)

  /** @param json
    *   the policies
    * @param location
    *   of the option `offload.location`, which takes precedence
    * @param format
    *   of the option `offload.format`, which takes precedence
    */
  def find(
      json: Option[JsonNode],
      location: Option[String],
      format: Option[String]
  ): Either[String, OffloadLocation] = {
    val policies = json.map(new OffloadPolicies(_))
    val named    = format.flatMap(name => formats.find(_.name == name))
    location match {
      case Some(uri) =>
        named.orElse(policies.flatMap(_.driver).flatMap(formatOf)).orElse(formatByScheme(uri)).map(located(_, uri))
          .getOrElse(
            Left(s"neither offload policies nor the scheme of $uri determine the format: set offload.format")
          )
      case None =>
        for {
          given  <- policies.toRight("there are no offload policies: set offload.location")
          driver <- given.driver.toRight("the offload policies name no driver: set offload.location")
          writes <- formatOf(driver).toRight(s"the offload driver $driver is not known here")
          uri    <- writes.drivers(driver)(given)
          result <- located(named.getOrElse(writes), uri)
        } yield result
    }
  }

  private def formatOf(driver: String): Option[OffloadFormat] = formats.find(_.drivers.contains(driver))

  private def formatByScheme(uri: String): Option[OffloadFormat] =
    formats.find(_.schemes(uri.takeWhile(_ != ':').toLowerCase))

  private def located(format: OffloadFormat, uri: String): Either[String, OffloadLocation] = Either.cond(
    Try(new URI(uri)).toOption.exists(_.getScheme != null),
    OffloadLocation(format, uri),
    s"$uri is not a URI with a scheme such as s3a: or file:, set offload.location"
  )
}
