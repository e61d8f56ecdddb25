package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{OptionRegistry, RawOptions, Secret, TranslationWarning}
import io.github.pulsarspark.pulsar.connection.ClientSettings

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

  /** The options of a read or write, not yet checked.
    *
    * @param definition
    *   the properties of a table in Spark's catalog; else the options that Spark created the table with
    * @param session
    *   the options of the session alone
    * @param query
    *   the options of the query. Some lines of Spark pass a write into a temporary view or of a stream fewer of them
    *   than they created the table with.
    * @param warning
    *   receives what was translated
    */
  def rawOptions(
      definition: JMap[String, String],
      session: Map[String, String],
      query: CaseInsensitiveStringMap = CaseInsensitiveStringMap.empty,
      warning: TranslationWarning = TranslationWarning()
  ): RawOptions = {
    val stored = storedOptions(definition)
    val own    = if (stored.isDefined) Map.empty[String, String] else definition.asScala.toMap
    new RawOptions(
      own.filterNot(o => query.containsKey(o._1)) ++ query.asCaseSensitiveMap().asScala,
      ClientSettings.fields,
      session,
      stored,
      warning
    )
  }

  /** Fails for options of Spark in a read or write that is not about a table, where they would be ignored: those that
    * only a catalog understands, and the argument of `load`, `save` and `start`.
    */
  def check(properties: JMap[String, String]): Unit =
    if (storedOptions(properties).isEmpty) properties.asScala.foreach { case (key, value) =>
      if (TimeTravel.exists(_.equalsIgnoreCase(key))) throw Conditions.AsOfWithoutCatalog(option = key).exception
      if (Paths.exists(_.equalsIgnoreCase(key))) throw Conditions.TopicAsPath(path = value).exception
    }

  private val TimeTravel = Seq("versionAsOf", "timestampAsOf")
  private val Paths      = Seq("path", "paths")

  /** Properties of a catalog table that DESCRIBE and SHOW CREATE TABLE may show; empty for any other table. A stored
    * option shows its value only if the option table contains it as not secret. Spark masks more by its own patterns.
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
