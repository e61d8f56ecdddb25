package io.github.pulsarspark.storage.offload.format

import com.fasterxml.jackson.databind.JsonNode

/** The offload policies of a topic or a namespace that are in force, as the admin API has them in JSON. They may hold
  * credentials, so nothing of them but the named fields goes anywhere.
  */
private[offload] final class OffloadPolicies(json: JsonNode) {

  /** Name of the driver in lower case. */
  def driver: Option[String] = text(OffloadPolicies.Driver).map(_.toLowerCase)

  def text(field: String): Option[String] = Option(json.path(field).asText(null)).map(_.trim).filter(_.nonEmpty)
}

private[offload] object OffloadPolicies {
  val Driver = "managedLedgerOffloadDriver"
}
