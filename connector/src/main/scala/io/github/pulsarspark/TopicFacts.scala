package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.SessionOptions

/** Facts about the topic of a table of [[catalog.PulsarCatalog]].
  *
  * @param partitions
  *   0 for a topic that is not partitioned
  * @param schemaType
  *   by Pulsar's name
  * @param asOf
  *   the clause of a table as it was
  * @param policies
  *   requests the properties for policies of the topic, which few statements show
  */
private[pulsarspark] final case class TopicFacts(
    partitions: Int,
    schemaType: String,
    asOf: Option[String],
    policies: () => Map[String, String]
) {

  /** Properties of the table, as `CREATE TABLE` takes them. */
  def properties: JMap[String, String] =
    (Map(
      TableCatalog.PROP_PROVIDER -> SessionOptions.Name,
      "schemaType"               -> schemaType.toLowerCase
    ) ++ Option.when(partitions > 0)("partitions" -> partitions.toString) ++ policies()).asJava

  /** Fails when a query names an end of its own for a table as it was. */
  def checkEnd(table: String, query: CaseInsensitiveStringMap): Unit =
    for (clause <- asOf; option <- Seq("endingOffsets", "endingTime").find(query.containsKey(_)))
      throw Conditions.TimeTravel(clause = clause, table = table, why = s"the query sets `$option` as well",
        instead = "Use one of both").exception
}
