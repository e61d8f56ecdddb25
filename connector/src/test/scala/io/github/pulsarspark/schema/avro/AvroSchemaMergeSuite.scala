package io.github.pulsarspark.schema.avro

import scala.jdk.CollectionConverters._

import org.apache.avro.{AvroTypeException, JsonProperties, Schema}
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

  private def field(name: String, kind: String, more: String = "") = s"""{"name":"$name","type":$kind$more}"""
  private def int(name: String, more: String = "")                 = field(name, "\"int\"", more)
  private def inner(fields: String*) = s"""{"type":"record","name":"I","fields":[${fields.mkString(",")}]}"""
  private def array(items: String)   = s"""{"type":"array","items":$items}"""
  private def map(values: String)    = s"""{"type":"map","values":$values}"""

  /** All types with this name in a schema, which has to have one definition of it. */
  private def named(name: String, schema: Schema): Seq[Schema] = {
    def within(schema: Schema): Seq[Schema] = schema.getType match {
      case Schema.Type.RECORD => schema +: fields(schema).flatMap(f => within(f.schema))
      case Schema.Type.ARRAY  => within(schema.getElementType)
      case Schema.Type.MAP    => within(schema.getValueType)
      case Schema.Type.UNION  => schema.getTypes.asScala.toSeq.flatMap(within)
      case _                  => Seq(schema)
    }
    assertEquals(new Schema.Parser().parse(schema.toString), schema)
    within(schema).filter(_.getName == name)
  }

  for (
    (where, wrap) <- Seq[(String, String => String)](
      "a field"            -> identity,
      "an array"           -> array,
      "a map"              -> map,
      "a nullable array"   -> (kind => s"""["null",${array(kind)}]"""),
      "a union of several" -> (kind => s"""["int","boolean",$kind]"""),
      "another record"     -> (kind => s"""{"type":"record","name":"Only","fields":[${field("i", kind)}]}""")
    )
  ) test(s"a type with a name that only one of the schemas has in $where is what both have of it") {
    def merged(name: String, known: String, newest: String) = {
      val more = field("more", wrap(s"\"$name\""))
      val none = field("more", """["null"]""")
      Seq(
        AvroSchemaMerge(record(field("more", wrap(known))), record(field("a", newest))),
        AvroSchemaMerge(record(field("a", known)), record(field("more", wrap(newest)))),
        AvroSchemaMerge(record(s"${field("a", known)},$more"), record(field("a", newest))),
        AvroSchemaMerge(record(field("a", known)), record(s"${field("a", newest)},$more")),
        AvroSchemaMerge(record(s"${field("a", known)},$more"), record(s"${field("a", newest)},$none")),
        AvroSchemaMerge(record(s"${field("a", known)},$none"), record(s"${field("a", newest)},$more"))
      ).flatMap { both =>
        val found = named(name, both)
        assertEquals(found.size, 2, both)
        found
      }
    }
    merged("I", inner(int("x"), int("k")), inner(int("x"), int("n"))).foreach(i =>
      assertEquals(fields(i).map(_.name), Seq("x", "k", "n"))
    )
    def kind(symbol: String) = s"""{"type":"enum","name":"K","symbols":["$symbol"]}"""
    merged("K", kind("A"), kind("B")).foreach(k => assertEquals(k.getEnumSymbols.asScala.toSeq, Seq("B", "A")))
    def fixed(size: Int) = s"""{"type":"fixed","name":"F","size":$size}"""
    merged("F", fixed(4), fixed(8)).foreach(f => assertEquals(f.getFixedSize, 8))
  }

  test("a type that is another kind of type is a difference, with its path") {
    def difference(known: String, newest: String)(implicit loc: munit.Location) = {
      val found = intercept[AvroSchemaMerge.Difference](AvroSchemaMerge(record(known), record(newest)))
      (found.path, found.was.sql, found.is.sql)
    }
    val text = field("x", "\"string\"")
    assertEquals(difference(int("x"), text), ("x", "INT", "STRING"))
    assertEquals(difference(field("l", array(inner(int("x")))), field("l", array(inner(text)))),
      ("l[].x", "INT", "STRING"))
    assertEquals(difference(field("m", map(inner(int("x")))), field("m", map(inner(text)))), ("m{}.x", "INT", "STRING"))
    assertEquals(difference(int("old"), field("new", "\"string\"", ""","aliases":["old"]""")), ("new", "INT", "STRING"))
    assertEquals(difference(field("more", inner(int("x"))), field("a", inner(text))), ("I.x", "INT", "STRING"))
    val symbols = """{"type":"enum","name":"I","symbols":["A"]}"""
    assertEquals(difference(field("more", inner(int("x"))), field("a", symbols)),
      ("I", "STRUCT<x: INT NOT NULL>", "STRING"))
  }

  test("a union of several types may get more of them at its end; one of a record is none of these") {
    def merged(known: String, newest: String) = AvroSchemaMerge(record(field("u", known)), record(field("u", newest)))
    val two                                   = """["int","string"]"""
    assertEquals(columns(merged(two, """["int","string","boolean"]""")),
      columns(record(field("u", """["int","string","boolean"]"""))))
    val members = Seq("int", "string", "boolean").zipWithIndex.map { case (kind, i) =>
      field(s"member$i", s"""["null","$kind"]""", ""","default":null""")
    }
    for (other <- Seq("""["int","boolean","string"]""", """["string","int","boolean"]""", inner(members: _*)))
      intercept[AvroSchemaMerge.Difference](merged(two, other))
    def withDoc(doc: String) = s"""["int",${inner(int("x", s""","doc":"$doc""""))}]"""
    assertEquals(columns(merged(withDoc("old"), withDoc("new"))), columns(record(field("u", withDoc("new")))))
    def kind(symbol: String) = s"""["int",{"type":"enum","name":"K","symbols":["$symbol"]}]"""
    assertEquals(named("K", merged(kind("A"), kind("B"))).flatMap(_.getEnumSymbols.asScala), Seq("B", "A"))
  }

  test("a field has the newest default and doc; one that is gone has its own") {
    def merged(known: String, newest: String) = AvroSchemaMerge(record(known), record(newest)).getFields.get(0)
    def shown(f: Schema.Field)                =
      (f.schema.toString.replace("\"", ""), Option(f.defaultVal).map(_.toString), Option(f.doc))
    val nullable = """["null","int"]"""
    assertEquals(shown(merged(field("n", nullable), int("n", ""","default":7,"doc":"d""""))),
      ("[int,null]", Some("7"), Some("d")))
    assertEquals(shown(merged(field("n", """["int","null"]"""), int("n", ""","doc":"d""""))),
      ("[null,int]", None, Some("d")))
    val absent = field("n", nullable, ""","default":null""")
    assertEquals(merged(int("n"), absent).defaultVal, JsonProperties.NULL_VALUE)
    assertEquals(merged(int("n"), absent).schema.toString, """["null","int"]""")
    val other = int("other")
    assertEquals(shown(merged(int("n", ""","doc":"d""""), other)).copy(_2 = None), ("[null,int]", None, Some("d")))
    assertEquals(shown(merged(int("n", ""","default":7,"doc":"d""""), other)), ("int", Some("7"), Some("d")))
  }

  test("a field is renamed by an alias only if the older schema does not have the new one besides") {
    val both = AvroSchemaMerge(record(s"${int("old")},${int("new")}"), record(int("new", ""","aliases":["old"]""")))
    assertEquals(fields(both).map(_.name), Seq("old", "new"))
  }

  test("a type that was merged has the doc and the aliases of the newest") {
    def text(kind: String, more: String) = s"""{"type":"$kind","name":"T","doc":"d","aliases":["Old"],$more}"""
    val both                             = Seq(
      AvroSchemaMerge(record(int("a")), new Schema.Parser().parse(text("record", s""""fields":[${int("b")}]"""))),
      AvroSchemaMerge(new Schema.Parser().parse("""{"type":"enum","name":"T","symbols":["A"]}"""),
        new Schema.Parser().parse(text("enum", """"symbols":["B"]""")))
    )
    both.foreach(made => assertEquals((made.getDoc, made.getAliases.asScala.toSet), ("d", Set("Old"))))
  }
}
