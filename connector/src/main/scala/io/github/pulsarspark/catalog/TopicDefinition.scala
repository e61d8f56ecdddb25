package io.github.pulsarspark.catalog

import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.SourceNames
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.SessionOptions
import io.github.pulsarspark.options.registry.{NearestName, OptionRegistry}

/** A topic that CREATE TABLE makes.
  *
  * @param columns
  *   of the value and of metadata; none = a topic without a schema
  * @param partitions
  *   0 for a topic that is not partitioned
  * @param schema
  *   options of a write that choose the schema
  */
private[catalog] final case class TopicDefinition(
    columns: StructType,
    partitions: Int,
    schema: Map[String, String],
    policies: PolicyChanges = PolicyChanges()
)

/** Reads what Spark passes for CREATE TABLE. Pure. */
private[catalog] object TopicDefinition {

  private val Partitions     = "partitions"
  private val SchemaChoices  = Seq("schemaType", "keySchemaType", "valueSchemaType", "keyValueEncoding")
  private val MostPartitions = 100000

  /** Properties of Spark's own that say nothing about a topic. */
  private val Ignored = Set(TableCatalog.PROP_OWNER, TableCatalog.PROP_COMMENT)

  private val Refused = Map(
    TableCatalog.PROP_LOCATION            -> ("a topic is stored by its cluster", "Remove LOCATION"),
    TableCatalog.PROP_IS_MANAGED_LOCATION -> ("a topic is stored by its cluster", "Remove LOCATION"),
    TableCatalog.PROP_EXTERNAL            -> ("a topic is stored by its cluster", "Remove EXTERNAL"),
    TableCatalog.PROP_COLLATION           -> ("topics have no collation", "Remove DEFAULT COLLATION"),
    "hive.stored-as"                      -> ("a topic is stored by its cluster", "Remove STORED AS")
  )

  /** @param partitioning
    *   the transforms of PARTITIONED BY, CLUSTERED BY and CLUSTER BY, in words
    * @param defaultSource
    *   Spark's `spark.sql.sources.default`, which it passes as provider unless the user names one
    * @param isFromRows
    *   whether rows follow, whose metadata columns go to messages
    */
  def apply(
      topic: String,
      columns: StructType,
      partitioning: Seq[String],
      properties: Map[String, String],
      defaultSource: String,
      isFromRows: Boolean
  ): TopicDefinition = {
    partitioning.headOption.foreach { transform =>
      throw Conditions.CatalogStatement(
        statement = s"PARTITIONED BY or CLUSTERED BY ($transform)",
        why = "the partitions of a topic are not made of columns, but of keys or in turn",
        instead = s"Use TBLPROPERTIES ($Partitions = n)"
      ).exception
    }
    val provider = properties.get(TableCatalog.PROP_PROVIDER)
    checkProvider(topic, provider, defaultSource)
    val isOfUser = provider.forall(isOurs)
    if (isOfUser && !isFromRows)
      columns.fields.foreach(c => DeclaredColumns.check(s"CREATE TABLE with the column `${c.name}`", c))
    val own = properties.filterNot { case (key, _) =>
      key == TableCatalog.PROP_PROVIDER || Ignored(key) || key.startsWith(TableCatalog.OPTION_PREFIX)
    }
    own.toSeq.sorted.foldLeft(TopicDefinition(columns, 0, Map.empty)) { case (made, (key, value)) =>
      PolicyProperty.find(key).map(p => made.copy(policies = made.policies + (p, Some(policy(topic, p, value)))))
        .orElse(SchemaChoices.find(_.equalsIgnoreCase(key)).map(c => made.copy(schema = made.schema + (c -> value))))
        .getOrElse {
          if (isPartitions(key)) made.copy(partitions = this.partitions(topic, value)) else throw unknown(topic, key)
        }
    }
  }

  /** The value of the property `partitions`. */
  def partitions(topic: String, text: String): Int =
    text.trim.toIntOption.filter(n => n >= 0 && n <= MostPartitions).getOrElse(
      throw Conditions.TableProperty(
        property = Partitions,
        topic = topic,
        why = s"its value is `$text`",
        instead = s"Use a whole number from 0 to $MostPartitions; a topic with 0 is not partitioned"
      ).exception
    )

  /** The value of a policy as brokers count it. */
  def policy(topic: String, property: PolicyProperty, text: String): Long = property.parse(text.trim).getOrElse(
    throw Conditions.TableProperty(property = property.name, topic = topic, why = s"its value is `$text`",
      instead = property.form).exception
  )

  /** True for the number of partitions. */
  def isPartitions(property: String): Boolean = property.equalsIgnoreCase(Partitions)

  /** True for a property of the schema, which the first CREATE decides. */
  def isOfSchema(property: String): Boolean = SchemaChoices.exists(_.equalsIgnoreCase(property))

  /** The error for a property that tables do not have. */
  def unknown(topic: String, property: String): RuntimeException = {
    val known          = Partitions +: (SchemaChoices ++ PolicyProperty.all.map(_.name))
    val (why, instead) = Refused.get(property).orElse {
      Option.when(OptionRegistry.scopesOf(property).isDefined)(
        ("it is an option of queries", "Set it in the query, or for all tables as `spark.sql.catalog.<name>.<option>`")
      )
    }.getOrElse {
      val near = NearestName(property, known).fold("")(n => s"; the nearest name is `$n`")
      (s"tables of topics have no such property$near", s"Use ${known.map(k => s"`$k`").mkString(", ")}")
    }
    Conditions.TableProperty(property = property, topic = topic, why = why, instead = instead).exception
  }

  private def isOurs(provider: String) =
    provider.equalsIgnoreCase(SessionOptions.Name) || provider.equalsIgnoreCase(SourceNames.Unique)

  /** Spark passes its default source from `toTable` and `saveAsTable`, as if the user had written it. */
  private def checkProvider(topic: String, provider: Option[String], defaultSource: String): Unit =
    provider.filterNot(p => isOurs(p) || p.equalsIgnoreCase(defaultSource)).foreach { other =>
      throw Conditions.TableProperty(
        property = s"USING $other",
        topic = topic,
        why = "the tables of this catalog are topics",
        instead =
          "Remove USING, or create the table in another catalog, such as spark_catalog"
      ).exception
    }
}
