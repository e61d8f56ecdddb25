package io.github.pulsarspark.storage.offload

import java.net.URI

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.storage.segment.OffloadLocation
import io.github.pulsarspark.storage.segment.OffloadLocation.{BlockObjects, MapFiles}

/** Where the offloaded ledgers of a topic are, from the offload policies of the topic or its namespace and from what
  * the user says. Left: why that is unknown.
  *
  * The policies are what is in force now, as the admin API has them in JSON. They may hold credentials, so nothing of
  * them but the named fields goes anywhere.
  */
private[pulsarspark] object OffloadLocations {

  /** @param location
    *   of the option `offload.location`, which wins
    * @param format
    *   of the option `offload.format`, which wins
    */
  def find(
      policies: Option[JsonNode],
      location: Option[String],
      format: Option[String]
  ): Either[String, OffloadLocation] = {
    val policy = policies.map(new Policy(_))
    location match {
      case Some(uri) =>
        format.orElse(policy.flatMap(_.format)).orElse(formatByScheme(uri)).map(located(_, uri)).getOrElse(
          Left(s"neither offload policies nor the scheme of $uri tell the format: set offload.format")
        )
      case None =>
        for {
          found <- policy.map(_.location).getOrElse(Left("there are no offload policies: set offload.location"))
          named <- located(format.getOrElse(formatOf(found)), found.uri)
        } yield named
    }
  }

  private val Block   = "block"
  private val MapFile = "mapfile"

  private def formatOf(location: OffloadLocation): String = location match {
    case _: BlockObjects => Block
    case _: MapFiles     => MapFile
  }

  private def located(format: String, uri: String): Either[String, OffloadLocation] =
    if (Try(new URI(uri)).toOption.flatMap(u => Option(u.getScheme)).isEmpty)
      Left(s"$uri is not a URI with a scheme such as s3a: or file:, set offload.location")
    else if (format == MapFile) Right(MapFiles(uri))
    else Right(BlockObjects(uri))

  private def formatByScheme(uri: String): Option[String] = uri.takeWhile(_ != ':').toLowerCase match {
    case "s3a" | "s3" | "s3n" | "gs" | "abfs" | "abfss" | "wasb" | "wasbs" | "oss" => Some(Block)
    case "hdfs" | "viewfs" | "webhdfs" | "swebhdfs"                                => Some(MapFile)
    case _                                                                         => None
  }

  private final class Policy(json: JsonNode) {

    private val driver = text("managedLedgerOffloadDriver").map(_.toLowerCase)

    def format: Option[String] = driver.flatMap {
      case "filesystem"                                                          => Some(MapFile)
      case "aws-s3" | "s3" | "google-cloud-storage" | "azureblob" | "aliyun-oss" => Some(Block)
      case _                                                                     => None
    }

    def location: Either[String, OffloadLocation] = driver match {
      case Some("filesystem") =>
        text("fileSystemURI").map(MapFiles(_)).toRight(
          "the offload policies have no fileSystemURI: set offload.location"
        )
      case Some("aws-s3" | "s3")        => bucket("s3ManagedLedgerOffloadBucket").map(b => BlockObjects(s"s3a://$b"))
      case Some("google-cloud-storage") => bucket("gcsManagedLedgerOffloadBucket").map(b => BlockObjects(s"gs://$b"))
      case Some("aliyun-oss")           => bucket().map(b => BlockObjects(s"oss://$b"))
      case Some("azureblob")            =>
        for { container <- bucket(); account <- azureAccount } yield BlockObjects(
          s"abfss://$container@$account.dfs.core.windows.net"
        )
      case Some(other) => Left(s"the offload driver $other is not known here")
      case None        => Left("the offload policies name no driver: set offload.location")
    }

    /** The names of old, then the one for every driver, as brokers look it up. */
    private def bucket(older: String*): Either[String, String] = (older :+ "managedLedgerOffloadBucket").flatMap(
      text(_)
    ).headOption.toRight("the offload policies name no bucket: set offload.location")

    /** Brokers take the account from their environment; of the policies, only the address of the service may name it.
      */
    private def azureAccount: Either[String, String] = text("managedLedgerOffloadServiceEndpoint")
      .flatMap(endpoint => "https?://([a-z0-9]+)\\.(?:blob|dfs)\\..*".r.findFirstMatchIn(endpoint).map(_.group(1)))
      .toRight(
        "the offload policies lack the storage account: " +
          "set offload.location to abfss://container@account.dfs.core.windows.net"
      )

    private def text(field: String): Option[String] =
      Option(json.path(field).asText(null)).map(_.trim).filter(_.nonEmpty)
  }
}
