package io.github.pulsarspark.schema.rows

import java.math.{BigDecimal => JBigDecimal, RoundingMode}

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema

/** Writes numbers of every type to fields of every type of numbers, and reads them back. */
class ExactNumbersSuite extends PropertySuite(3000) {
  import ExactNumbersSuite._

  private val records = for {
    kind             <- Seq("AVRO", "JSON")
    (field, written) <- Fields
  } yield (TopicSchema(kind, s"""{"type":"record","name":"R","fields":[{"name":"value","type":$field}]}"""), written)

  private val primitives = Seq("INT8" -> Whole(8), "INT16" -> Whole(16), "INT32" -> Whole(32), "INT64" -> Whole(64),
    "TIME" -> Whole(64), "FLOAT" -> Floats, "DOUBLE" -> Doubles).map { case (t, field) => TopicSchema(t) -> field }

  private val targets = records ++ primitives

  property("a number is written as it is, or refused: never as another") {
    forAll(Gen.zip(numbers, Gen.oneOf(targets))) { case ((dataType, value), (schema, field)) =>
      val plan    = WritePlanner(column(dataType), Some(Messages.topic), Some(schema), "auto")
      val written = Try(new RowEncoder(plan).encode(InternalRow(value)).value)
      val exact   = field.holds(value)
      assertEquals(written.isSuccess, exact, s"$value of ${dataType.sql} in $schema: $written")
      if (exact) {
        val read = SchemaTranslation.toStruct(Messages.topic, schema)
        val back = Messages.decoder(schema, read).decode(Messages.of(written.get)).get(0, read.head.dataType)
        assert(isSame(value, back), s"$value of ${dataType.sql} is $back in $schema")
      } else {
        val error = written.failed.get.asInstanceOf[PulsarError]
        assertEquals(error.condition, "PULSAR_WRITE_NUMBER_NOT_EXACT")
        assertEquals(error.parameters.get("field"), Some("value"))
      }
    }
  }

  test("a number of the user, read back as it was written or refused") {
    def into(schemaType: String, dataType: DataType, value: Any): Any = {
      val schema = TopicSchema(schemaType)
      val plan   = WritePlanner(column(dataType), Some(Messages.topic), Some(schema), "auto")
      val read   = SchemaTranslation.toStruct(Messages.topic, schema)
      Messages.decoder(schema, read).decode(Messages.of(new RowEncoder(plan).encode(InternalRow(value)).value))
        .get(0, read.head.dataType)
    }
    def decimal(text: String) = { val d = Decimal(text); DecimalType(d.precision, d.scale) -> d }
    def literal(schemaType: String, text: String): Any = {
      val (dataType, value) = decimal(text)
      into(schemaType, dataType, value)
    }
    assertEquals[Any, Any](Seq("3.5", "0.1", "-0.000", "123456789012345.6").map(literal("DOUBLE", _)),
      Seq(3.5, 0.1, 0.0, 123456789012345.6))
    assertEquals[Any, Any](into("DOUBLE", DecimalType(38, 18), Decimal(new JBigDecimal("0.1"), 38, 18)), 0.1)
    assertEquals[Any, Any](literal("FLOAT", "3.14"), 3.14f)
    assertEquals[Any, Any](literal("INT32", "7.0"), 7)
    assertEquals[Any, Any](into("DOUBLE", IntegerType, Int.MinValue), Int.MinValue.toDouble)
    assertEquals[Any, Any](into("INT64", DoubleType, 1e15), 1000000000000000L)
    def reason(body: => Any) = intercept[RuntimeException with PulsarError](body).parameters("reason")
    assertEquals(reason(literal("INT32", "7.5")), "it is not a whole number")
    assertEquals(reason(literal("INT32", "3000000000")), "it is not within -2147483648 and 2147483647")
    assertEquals(reason(into("INT8", IntegerType, 128)), "it is not within -128 and 127")
    assertEquals(reason(into("DOUBLE", LongType, Long.MaxValue)), "it would be rounded")
    assertEquals(reason(into("DOUBLE", LongType, 9007199254740993L)), "it would be rounded")
    assertEquals(reason(literal("DOUBLE", "0.12345678901234567890")), "it would be rounded")
    assertEquals(reason(into("FLOAT", DoubleType, 0.1)), "it would be rounded")
    assertEquals(reason(into("FLOAT", DoubleType, 1e300)), "it would be rounded")
    assertEquals(reason(into("INT64", DoubleType, Double.NaN)), "it is neither whole nor a decimal")
    assertEquals(reason(into("INT64", DoubleType, 9.3e18)),
      "it is not within " +
        s"${Long.MinValue} and ${Long.MaxValue}")
  }

  test("a number goes to the branch of a union that takes most of its numbers") {
    def branch(dataType: DataType, union: String) = {
      val schema = TopicSchema("AVRO", s"""{"type":"record","name":"R","fields":[{"name":"value","type":$union}]}""")
      val plan   = WritePlanner(column(dataType), Some(Messages.topic), Some(schema), "auto")
      val value  = dataType match {
        case d: DecimalType => Decimal(new JBigDecimal("1"), d.precision, d.scale)
        case DoubleType     => 1.0
        case FloatType      => 1.0f
        case LongType       => 1L
        case ShortType      => 1.toShort
        case _              => 1
      }
      new RowEncoder(plan).encode(InternalRow(value)).value.head / 2
    }
    assertEquals(branch(DecimalType(2, 1), """["null","int","double","string"]"""), 2)
    assertEquals(branch(FloatType, """["int","double","string"]"""), 1)
    assertEquals(branch(DoubleType, """["long","float","string"]"""), 1)
    assertEquals(branch(LongType, """["int","string"]"""), 0)
    assertEquals(branch(LongType, """["double","int","long"]"""), 2)
    assertEquals(branch(ShortType, """["int","long"]"""), 0)
    assertEquals(branch(LongType, """["float","int"]"""), 1)
  }
}

object ExactNumbersSuite {
  private def column(dataType: DataType) = new StructType().add("value", dataType)

  /** Numbers that a field can hold. */
  sealed trait Field { def holds(value: Any): Boolean }

  private final case class Whole(bits: Int) extends Field {
    override def holds(value: Any): Boolean = number(value).exists(n =>
      n.signum == 0 || n.stripTrailingZeros.scale <= 0 && n.toBigInteger.bitLength < bits
    )
  }

  private final case class Decimals(precision: Int, scale: Int) extends Field {
    override def holds(value: Any): Boolean = number(value).exists(n =>
      n.signum == 0 || n.stripTrailingZeros.scale <= scale && n.setScale(scale).precision <= precision
    )
  }

  private case object Floats extends Field {
    override def holds(value: Any): Boolean = value match {
      case d: Double  => d.isNaN || d.toFloat.toDouble == d
      case _: Float   => true
      case d: Decimal => isNamed(d.toJavaBigDecimal, new JBigDecimal(d.toJavaBigDecimal.floatValue.toDouble))
      case _          => number(value).exists(n => new JBigDecimal(n.floatValue.toDouble).compareTo(n) == 0)
    }
  }

  private case object Doubles extends Field {
    override def holds(value: Any): Boolean = value match {
      case _: Double | _: Float => true
      case d: Decimal           => isNamed(d.toJavaBigDecimal, new JBigDecimal(d.toJavaBigDecimal.doubleValue))
      case _                    => number(value).exists(n => new JBigDecimal(n.doubleValue).compareTo(n) == 0)
    }
  }

  private def isNamed(number: JBigDecimal, nearest: JBigDecimal) = {
    val digits = number.stripTrailingZeros
    nearest.setScale(digits.scale, RoundingMode.HALF_EVEN).compareTo(digits) == 0
  }

  /** The number as people write it; None for NaN and infinities. */
  private def number(value: Any): Option[JBigDecimal] = value match {
    case d: Decimal => Some(d.toJavaBigDecimal)
    case other      => Try(new JBigDecimal(other.toString)).toOption
  }

  private def isSame(value: Any, back: Any): Boolean = (value, back) match {
    case (d: Double, b: Double)  => java.lang.Double.compare(d, b) == 0
    case (f: Float, b: Double)   => java.lang.Double.compare(f.toDouble, b) == 0
    case (f: Float, b: Float)    => java.lang.Float.compare(f, b) == 0
    case (d: Double, b: Float)   => java.lang.Double.compare(d, b.toDouble) == 0
    case (d: Decimal, b: Double) => isNamed(d.toJavaBigDecimal, new JBigDecimal(b))
    case (d: Decimal, b: Float)  => isNamed(d.toJavaBigDecimal, new JBigDecimal(b.toDouble))
    case (_, b: Double)          => number(value).exists(_.compareTo(new JBigDecimal(b)) == 0)
    case (_, b: Float)           => number(value).exists(_.compareTo(new JBigDecimal(b.toDouble)) == 0)
    case _                       => number(value).zip(number(back)).exists { case (a, b) => a.compareTo(b) == 0 }
  }

  private val Fields: Seq[(String, Field)] = Seq(
    "\"int\""                                                                -> Whole(32),
    "\"long\""                                                               -> Whole(64),
    "\"float\""                                                              -> Floats,
    "[\"null\",\"double\"]"                                                  -> Doubles,
    """{"type":"bytes","logicalType":"decimal","precision":5,"scale":2}"""   -> Decimals(5, 2),
    """{"type":"bytes","logicalType":"decimal","precision":38,"scale":10}""" -> Decimals(38, 10)
  )

  private val wholes = Gen.oneOf(
    Gen.choose(-300L, 300L),
    Arbitrary.arbLong.arbitrary,
    Gen.oneOf(7, 8, 15, 16, 24, 31, 32, 53, 62, 63).flatMap(bits =>
      Gen.choose(-2L, 2L).flatMap(d => Gen.oneOf((1L << bits) + d, -(1L << bits) + d))
    )
  )

  private val decimals = for {
    precision <- Gen.choose(1, 38)
    scale     <- Gen.choose(0, precision)
    digits    <- Gen.choose(1, precision)
    number    <- Gen.listOfN(digits, Gen.choose(0, 9)).map(d => BigInt(d.mkString))
    sign      <- Gen.oneOf(1, -1)
  } yield DecimalType(precision, scale) -> Decimal(new JBigDecimal((number * sign).bigInteger, scale), precision, scale)

  private val doubles = Gen.oneOf(
    Arbitrary.arbDouble.arbitrary,
    Gen.choose(-100000, 100000).map(_ / 100.0),
    wholes.map(_.toDouble),
    Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, -0.0, Double.MinPositiveValue, 1e300)
  )

  /** Numbers of every type. */
  private val numbers: Gen[(DataType, Any)] = Gen.oneOf(
    wholes.map(n => ByteType -> n.toByte),
    wholes.map(n => ShortType -> n.toShort),
    wholes.map(n => IntegerType -> n.toInt),
    wholes.map(n => LongType -> n),
    doubles.map(n => FloatType -> n.toFloat),
    doubles.map(n => DoubleType -> n),
    decimals
  )
}
