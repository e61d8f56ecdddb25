package io.github.pulsarspark.schema.avro

import scala.jdk.CollectionConverters._

import org.apache.avro.{AvroTypeException, Schema}
import org.apache.avro.generic.{GenericData, IndexedRecord}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{AvroGenerators, EvolvedSchemas, Messages, Plain, SchemaTranslation}

/** A merged schema, by Avro's own reader: it takes values of both schemas, and changes none that both have alike. */
class AvroSchemaMergeSuite extends PropertySuite {
  import AvroGenerators._

  private val changed = for {
    (newest, known) <- EvolvedSchemas.pair
    ofKnown         <- Gen.listOfN(3, value(known))
    ofNewest        <- Gen.listOfN(3, value(newest))
  } yield (known, newest, ofKnown, ofNewest)

  private def columns(schema: Schema) =
    SchemaTranslation.toStruct(Messages.topic, TopicSchema("AVRO", schema.toString)).map(c => c.name -> c.dataType)

  private def fields(schema: Schema) = schema.getFields.asScala.toSeq

  /** Merges schemas, unless they differ in a type. */
  private def merge(known: Schema, newest: Schema): Option[Schema] =
    try Some(AvroSchemaMerge(known, newest))
    catch { case _: AvroSchemaMerge.Difference => None }

  private var merged = 0

  property("values of either schema are read, and a field of the same type as before is what it was") {
    forAll(changed) { case (known, newest, ofKnown, ofNewest) =>
      merge(known, newest).foreach { both =>
        merged += 1
        val types = columns(both).toMap
        for {
          (writer, data) <- Seq(known -> ofKnown, newest -> ofNewest)
          datum          <- data
          read           <- readBy(both, writer, datum, mayLack = writer eq known)
        } {
          val was = Plain.ofAvro(datum, writer).asInstanceOf[Map[String, Any]]
          columns(writer).filter { case (name, kind) => types.get(name).contains(kind) && hasOne(both, writer, name) }
            .foreach { case (name, _) => assertEquals(read(name), was(name), s"$name of $writer by $both") }
        }
      }
    }
  }

  /** Values of the older schema lack fields that the newest has, which are read only where these have a default. */
  private def readBy(both: Schema, writer: Schema, datum: Any, mayLack: Boolean): Option[Map[String, Any]] =
    try
      Plain.ofAvro(decoded(writer, both, encoded(writer, datum)), both) match {
        case row: Map[_, _] => Some(row.map { case (name, value) => name.toString -> (value: Any) })
        case other          => fail(other.toString)
      }
    catch { case e: AvroTypeException if mayLack && e.getMessage.contains("missing required field") => None }

  /** False for a field of the writer that the merged schema knows by another name. */
  private def hasOne(both: Schema, writer: Schema, name: String) =
    !fields(both).exists(f => f.aliases.asScala.exists(a => writer.getField(a) != null) && f.name == name)

  property("the fields of the older schema come first, in their order, then those that are new") {
    forAll(changed) { case (known, newest, _, _) =>
      merge(known, newest).foreach { both =>
        def now(old: Schema.Field) =
          fields(newest).find(g => g.aliases.contains(old.name) && known.getField(g.name) == null)
            .filter(_ => newest.getField(old.name) == null).fold(old.name)(_.name)
        val first = fields(known).map(now)
        assertEquals(fields(both).map(_.name), first ++ fields(newest).map(_.name).filterNot(first.contains))
      }
    }
  }

  property("a schema that has everything of another one is not changed by it, and one merged with itself is the same") {
    forAll(changed) { case (known, newest, _, _) =>
      assertEquals(columns(AvroSchemaMerge(newest, newest)), columns(newest))
      merge(known, newest).foreach { both =>
        assertEquals(columns(AvroSchemaMerge(both, newest)), columns(both))
      }
    }
  }

  test("the properties above have merged schemas") {
    assert(merged > 20, s"$merged schemas were merged: the generator is one-sided")
  }

  private def record(more: String) = new Schema.Parser().parse(s"""{"type":"record","name":"R","fields":[$more]}""")

  test("a field that only the older schema has: its default where it has one, else null") {
    val gone = AvroSchemaMerge(
      record("""{"name":"a","type":"int","default":7},{"name":"b","type":"int"},{"name":"c","type":["int","null"]}"""),
      record("""{"name":"d","type":"int"}""")
    )
    val empty = record("""{"name":"d","type":"int"}""")
    val datum = new GenericData.Record(empty)
    datum.put("d", 1)
    val read = decoded(empty, gone, encoded(empty, datum)) match {
      case r: IndexedRecord => fields(gone).map(f => f.name -> r.get(f.pos))
      case other            => fail(other.toString)
    }
    assertEquals(read, Seq[(String, Any)]("a" -> 7, "b" -> null, "c" -> null, "d" -> 1))
  }

  test("symbols of both, those of the newest first; the newest name of what was renamed") {
    def kind(symbols: String, more: String = "") =
      new Schema.Parser().parse(s"""{"type":"enum","name":"K"$more,"symbols":[$symbols]}""")
    val both = AvroSchemaMerge(kind(""""A","B""""), kind(""""C","A"""", ""","default":"C""""))
    assertEquals(both.getEnumSymbols.asScala.toSeq, Seq("C", "A", "B"))
    assertEquals(both.getEnumDefault, "C")
  }
}
