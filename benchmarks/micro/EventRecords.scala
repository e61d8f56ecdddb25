package io.github.pulsarspark.schema.rows

import scala.util.Random

import org.apache.avro.Schema
import org.apache.avro.generic.GenericData
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.TopicSchema

/** A thousand records of 10 fields, or of several times as many, as AVRO and as JSON. */
final class EventRecords(val width: Int) {
  import EventRecords._

  private val random = new Random(20261121)
  private val times  = width / Fields.size

  private val all = (0 until times).flatMap(i =>
    Fields.map { case (name, definition, value) => (s"${name}_$i", definition.replace("@", s"$i"), value) }
  )

  val schema: Schema = new Schema.Parser().parse(
    all.map { case (name, definition, _) => s"""{"name":"$name","type":$definition}""" }
      .mkString("""{"type":"record","name":"Event","fields":[""", ",", "]}")
  )

  val avro: TopicSchema   = TopicSchema("AVRO", schema.toString)
  val json: TopicSchema   = avro.copy(schemaType = "JSON")
  val columns: StructType = SchemaTranslation.toStruct("t", avro)
  val three: StructType   = StructType((0 until 3).map(i => columns(i * width / 3)))

  private val values = Seq.fill(Count) {
    val r = new GenericData.Record(schema)
    all.foreach { case (name, _, value) => r.put(name, value(random, schema.getField(name).schema)) }
    AvroGenerators.encoded(schema, r)
  }

  val inAvro: Array[MessageView] = values.map(Messages.of(_)).toArray
  val rows: Seq[InternalRow]     = values.map(Messages.decode(avro, _).copy())
  val inJson: Array[MessageView] = {
    val encoder = encoding(json)
    rows.map(r => Messages.of(encoder.encode(r).value)).toArray
  }

  def encoding(schema: TopicSchema): RowEncoder = new RowEncoder(WritePlanner(columns, Some("t"), Some(schema), "auto"))
}

object EventRecords {
  val Count = 1000

  private def text(random: Random, length: Int) = random.alphanumeric.take(length).mkString

  private def sometimes(random: Random, value: => Any): Any = if (random.nextBoolean()) value else null

  /** What a field is, and its values. */
  private val Fields = Seq[(String, String, (Random, Schema) => Any)](
    ("id", """"long"""", (r, _) => r.nextLong()),
    ("user", """"string"""", (r, _) => text(r, 12)),
    ("at", """{"type":"long","logicalType":"timestamp-millis"}""", (r, _) => 1700000000000L + r.nextInt()),
    (
      "kind",
      """{"type":"enum","name":"Kind@","symbols":["VIEW","CLICK","BUY"]}""",
      (_, schema) => new GenericData.EnumSymbol(schema, "CLICK")
    ),
    ("amount", """"double"""", (r, _) => r.nextDouble()),
    ("count", """"int"""", (r, _) => r.nextInt(1000)),
    ("page", """["null","string"]""", (r, _) => sometimes(r, text(r, 24))),
    ("score", """["null","double"]""", (r, _) => sometimes(r, r.nextDouble())),
    ("mobile", """"boolean"""", (r, _) => r.nextBoolean()),
    ("country", """"string"""", (r, _) => text(r, 2))
  )
}
