import sbt._
import sjsonnew.shaded.scalajson.ast.unsafe.{JObject, JString, JValue}
import sjsonnew.support.scalajson.unsafe.Parser

/** Makes `Conditions.scala` from `error-conditions.json`: for each condition an object, whose `apply` has a parameter
  * for each placeholder of its texts, in the order in which they first stand there.
  */
object ErrorConditions {

  private val placeholder = """\{(\w+)\}""".r

  def source(json: File): String = {
    val entries    = fields(Parser.parseUnsafe(IO.read(json)))
    val conditions = entries.map { case (name, entry) => condition(name, text(entry)) }
    val all        = entries.map { case (name, _) => constructor(name) }
    s"""package io.github.pulsarspark.errors
       |
       |/** Every error of the connector, made from `${json.getName}`. */
       |private[pulsarspark] object Conditions {
       |${conditions.mkString("\n")}
       |
       |  val all: Seq[Condition] = Seq(${all.mkString(", ")})
       |}
       |""".stripMargin
  }

  /** The object for a condition: `DataLossTrimmed` for `PULSAR_DATA_LOSS.TRIMMED`. */
  private def constructor(name: String): String = name.split("[_.]").tail.map(_.toLowerCase.capitalize).mkString

  private def condition(name: String, text: Map[String, String]): String = {
    val parameters = placeholder.findAllMatchIn(text("message") + text("action")).map(_.group(1)).toSeq.distinct
    val arguments  = Seq(name, text("sqlState"), text("kind"), text("message"), text("action")).map(literal)
    s"""
       |  /** ${text("message")} */
       |  object ${constructor(name)} extends Condition(${arguments.mkString(", ")}) {
       |    def apply(${parameters.map(p => s"$p: String").mkString(", ")}): Occurrence =
       |      new Occurrence(this, Map(${parameters.map(p => s""""$p" -> $p""").mkString(", ")}))
       |  }""".stripMargin
  }

  private def literal(text: String): String = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""

  private def text(entry: JValue): Map[String, String] =
    fields(entry).collect { case (key, JString(value)) => key -> value }.toMap

  private def fields(value: JValue): Seq[(String, JValue)] = value match {
    case JObject(all) => all.toSeq.map(f => f.field -> f.value)
    case other        => sys.error(s"not an object: $other")
  }
}
