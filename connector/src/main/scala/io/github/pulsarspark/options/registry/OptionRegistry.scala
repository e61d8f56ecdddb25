package io.github.pulsarspark.options.registry

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Kind of query in which an option may be valid. */
sealed abstract class Scope(val key: String, val words: String) {

  /** True if an option that is valid in one of these scopes is valid here, too. */
  def accepts(valid: Seq[Scope]): Boolean = valid.contains(this)
}

object Scope {
  case object BatchRead   extends Scope("batchRead", "batch read")
  case object StreamRead  extends Scope("streamRead", "streaming read")
  case object BatchWrite  extends Scope("batchWrite", "batch write")
  case object StreamWrite extends Scope("streamWrite", "streaming write")

  /** Takes the options of batch reads, too, and requires none of them: what each table needs, it says itself. */
  case object Metadata extends Scope("metadata", "metadata table") {
    override def accepts(valid: Seq[Scope]): Boolean = super.accepts(valid) || BatchRead.accepts(valid)
  }

  /** Takes the options of all queries, which the queries of its tables have below their own. */
  case object Catalog extends Scope("catalog", "catalog") {
    override def accepts(valid: Seq[Scope]): Boolean = true
  }

  val all: Seq[Scope] = Seq(BatchRead, StreamRead, BatchWrite, StreamWrite, Metadata, Catalog)
}

/** One line of the option table.
  *
  * @param valueType
  *   name of the form of its value: string, boolean, milliseconds, bytes, enum, ...
  * @param group
  *   name of the group that it is shown in
  */
private[pulsarspark] final case class OptionDefinition(
    key: String,
    valueType: String,
    group: String,
    default: Option[String],
    required: Boolean,
    secret: Boolean,
    scopes: Seq[Scope],
    values: Seq[String],
    min: Option[Long],
    max: Option[Long],
    example: Option[String]
)

/** A family of options whose names are the Pulsar client's own.
  *
  * @param fields
  *   empty = every field of the client
  * @param counts
  *   those whose numbers are bounded. Their values are not shown, as those of all settings of a client
  */
private[pulsarspark] final case class PrefixDefinition(
    prefix: String,
    scopes: Seq[Scope],
    fields: Seq[String],
    counts: Seq[OptionDefinition]
)

/** An option of streamnative/pulsar-spark that is accepted here, by its name there.
  *
  * @param target
  *   the option that it sets; None when it sets none
  * @param values
  *   the accepted values in lower case, each with the value of `target`; None = no effect. Empty = the values of
  *   `target`
  * @param rule
  *   name of a further check of the value
  * @param isUnsupported
  *   whether any other value is an option that does not exist here yet
  * @param note
  *   how it differs from `target`, or what to do without it
  */
private[pulsarspark] final case class AliasDefinition(
    name: String,
    target: Option[String],
    values: Seq[(String, Option[String])],
    rule: Option[String],
    isUnsupported: Boolean,
    scopes: Seq[Scope],
    note: String
)

/** The option table, `options.json`. The Python builders and the reference page are generated from the same file. */
private[pulsarspark] object OptionRegistry {

  private val root: JsonNode = {
    val in = getClass.getResourceAsStream("/io/github/pulsarspark/options.json")
    try new ObjectMapper().readTree(in)
    finally in.close()
  }

  val definitions: Seq[OptionDefinition] = items(root, "options").map { o =>
    OptionDefinition(
      key = o.get("key").asText,
      valueType = o.get("type").asText,
      group = o.get("group").asText,
      default = text(o, "default"),
      required = o.path("required").asBoolean(false),
      secret = o.path("secret").asBoolean(false),
      scopes = scopes(o),
      values = items(o, "values").map(_.asText),
      min = number(o, "min"),
      max = number(o, "max"),
      example = text(o, "example")
    )
  }

  val prefixes: Seq[PrefixDefinition] =
    items(root, "prefixes").map(p =>
      PrefixDefinition(
        p.get("prefix").asText,
        scopes(p),
        items(p, "fields").map(_.asText),
        items(p, "counts").map(c => count(p.get("prefix").asText + c.get("name").asText, c, scopes(p)))
      )
    )

  private def count(key: String, bounds: JsonNode, scopes: Seq[Scope]) =
    OptionDefinition(key, "count", "client", None, required = false, secret = true, scopes, Nil, number(bounds, "min"),
      number(bounds, "max"), None)

  val exactlyOne: Seq[(Seq[String], Seq[Scope])] = items(root, "exactlyOne").map(g =>
    (items(g, "keys").map(_.asText), scopes(g))
  )
  val conflicts: Seq[(String, String)] = items(root, "conflicts").map(pair)

  /** Options that need another option, with that option. */
  val needs: Seq[(String, String)] = items(root, "needs").map(pair)

  val aliases: Seq[AliasDefinition] = items(root, "aliases").map { a =>
    AliasDefinition(
      name = a.get("from").asText,
      target = text(a, "to"),
      values = a.path("values").properties().asScala.toSeq.map(v =>
        v.getKey -> Option.unless(v.getValue.isNull)(v.getValue.asText)
      ),
      rule = text(a, "rule"),
      isUnsupported = a.path("unsupported").asBoolean(false),
      scopes = scopes(a),
      note = a.get("note").asText
    )
  }

  private val sparkOwn = items(root, "sparkOwn").map(_.asText.toLowerCase).toSet

  /** True if the option belongs to Spark, which passes its own options together with ours. */
  def isOfSpark(key: String): Boolean = sparkOwn(key.toLowerCase)

  /** Client settings that an option of ours replaces, by lower-case name, with that option. */
  val managed: Map[String, String] = texts("managed")

  /** Client settings that change nothing here, by lower-case name: why, and what to do. */
  val withoutEffect: Map[String, (String, String)] = root.get("withoutEffect").properties().asScala.map(e =>
    e.getKey.toLowerCase -> (e.getValue.get("reason").asText, e.getValue.get("instead").asText)
  ).toMap

  /** Names of options of Spark's Kafka source, in lower case, with those of the same meaning here. */
  val namesElsewhere: Map[String, String] = texts("namesElsewhere")

  private def texts(name: String): Map[String, String] =
    root.get(name).properties().asScala.map(e => e.getKey.toLowerCase -> e.getValue.asText).toMap

  private val byLowerKey  = definitions.map(d => d.key.toLowerCase -> d).toMap
  private val aliasByName = aliases.map(a => a.name.toLowerCase -> a).toMap

  /** The definition of an option, whatever the case of `key`. */
  def find(key: String): Option[OptionDefinition] = byLowerKey.get(key.toLowerCase)

  /** The alias of this name, whatever its case. */
  def alias(key: String): Option[AliasDefinition] = aliasByName.get(key.toLowerCase)

  /** Canonical name of an option, in lower case: options with the same one replace each other. */
  def meaning(key: String): String = alias(key).flatMap(_.target).getOrElse(key).toLowerCase

  /** The family that an option belongs to by its name. */
  def prefixOf(key: String): Option[PrefixDefinition] = prefixes.find(p => key.toLowerCase.startsWith(p.prefix))

  /** The scopes of an option; None for an unknown option. */
  def scopesOf(key: String): Option[Seq[Scope]] =
    alias(key).map(_.scopes).orElse(prefixOf(key).map(_.scopes)).orElse(find(key).map(_.scopes))

  private def items(node: JsonNode, name: String): Seq[JsonNode] = node.path(name).elements().asScala.toSeq
  private def text(node: JsonNode, name: String): Option[String] = Option(node.get(name)).map(_.asText)
  private def number(node: JsonNode, name: String): Option[Long] = Option(node.get(name)).map(_.asLong)
  private def pair(node: JsonNode): (String, String)             = (node.get(0).asText, node.get(1).asText)
  private def scopes(node: JsonNode): Seq[Scope]                 = {
    val names = items(node, "scopes").map(_.asText)
    Scope.all.filter(s => names.contains(s.key))
  }
}
