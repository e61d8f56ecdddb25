package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.TableCatalog

import io.github.pulsarspark.options.registry.{OptionRegistry, Secret}

/** The properties of a table in Spark's session catalog. Spark passes them as if they were options: each option of
  * `CREATE TABLE ... OPTIONS` by its own name and again with the prefix `option.`, next to `TBLPROPERTIES`, `provider`,
  * `owner`, `path`, `is_managed_location` and others. Only the names with the prefix are certain to be options. A read
  * or write that is not about a table of the catalog has no `provider`.
  */
private[pulsarspark] object TableProperties {

  /** The options stored with the table; None when the map holds the options of a read or write. */
  def storedOptions(properties: JMap[String, String]): Option[Map[String, String]] =
    Option.when(properties.containsKey(TableCatalog.PROP_PROVIDER)) {
      properties.asScala.collect {
        case (key, value) if key.startsWith(TableCatalog.OPTION_PREFIX) =>
          key.stripPrefix(TableCatalog.OPTION_PREFIX) -> value
      }.toMap
    }

  /** What DESCRIBE and SHOW CREATE TABLE may show of a table of the catalog, empty for anything else. Of the stored
    * options only those have their value that the option table knows and does not call secret; Spark masks more by its
    * own patterns.
    */
  def shown(properties: JMap[String, String]): JMap[String, String] =
    storedOptions(properties).fold(Map.empty[String, String]) { stored =>
      properties.asScala.toMap.flatMap { case (key, value) =>
        val name = key.stripPrefix(TableCatalog.OPTION_PREFIX)
        if (stored.contains(name)) Some(key                   -> (if (isPublic(name)) value else Secret.Mask))
        else Option.when(!OptionRegistry.isOfSpark(name))(key -> value)
      }
    }.asJava

  private def isPublic(option: String) =
    OptionRegistry.isOfSpark(option) || OptionRegistry.find(option).exists(!_.secret)
}
