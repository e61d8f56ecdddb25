package io.github.pulsarspark.schema.rows

import java.math.{BigDecimal => JBigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.{Collection => JCollection, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.avro.generic.{GenericData, GenericFixed, IndexedRecord}
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Values of Avro's generic reader and of Spark's rows in one comparable form. What Avro gives is turned into what a
  * row should hold by rules of its own, written down a second time here: it is the oracle.
  */
object Plain {

  final case class Bits(bits: Long)

  def ofSpark(value: Any, dataType: DataType): Any = (value, dataType) match {
    case (null, _)                          => null
    case (f: Float, _)                      => Bits(java.lang.Float.floatToRawIntBits(f).toLong)
    case (d: Double, _)                     => Bits(java.lang.Double.doubleToRawLongBits(d))
    case (s: UTF8String, _)                 => s.toString
    case (b: Array[Byte], _)                => b.toVector
    case (d: Decimal, _)                    => d.toJavaBigDecimal
    case (a: ArrayData, ArrayType(item, _)) => a.toObjectArray(item).toVector.map(ofSpark(_, item))
    case (m: MapData, MapType(key, v, _))   =>
      m.keyArray().toObjectArray(key).map(_.toString).zip(m.valueArray().toObjectArray(v).map(ofSpark(_, v))).toMap
    case (row: SpecializedGetters, struct: StructType) => ofRow(row, struct)
    case _                                             => value
  }

  def ofRow(row: SpecializedGetters, struct: StructType): Map[String, Any] =
    struct.fields.zipWithIndex.map { case (f, i) =>
      f.name -> (if (row.isNullAt(i)) null else ofSpark(row.get(i, f.dataType), f.dataType))
    }.toMap

  def ofAvro(value: Any, schema: Schema): Any = (value, schema.getType) match {
    case (_, Type.UNION)        => union(value, schema)
    case (null, _)              => null
    case (l: Long, Type.LONG)   => time(l, schema)
    case (f: Float, _)          => Bits(java.lang.Float.floatToRawIntBits(f).toLong)
    case (d: Double, _)         => Bits(java.lang.Double.doubleToRawLongBits(d))
    case (r: IndexedRecord, _)  => schema.getFields.asScala.map(f => f.name -> ofAvro(r.get(f.pos), f.schema)).toMap
    case (c: JCollection[_], _) => c.asScala.toVector.map(ofAvro(_, schema.getElementType))
    case (m: JMap[_, _], _)     => m.asScala.map { case (k, v) => k.toString -> ofAvro(v, schema.getValueType) }.toMap
    case (b: ByteBuffer, _)     => bytes(ByteBuffer.allocate(b.remaining).put(b.duplicate).array, schema)
    case (f: GenericFixed, _)   => bytes(f.bytes, schema)
    case (_, Type.STRING | Type.ENUM) => value.toString
    case _                            => value
  }

  private def bytes(b: Array[Byte], schema: Schema): Any = schema.getLogicalType match {
    case d: LogicalTypes.Decimal => new JBigDecimal(new BigInteger(b), d.getScale)
    case _                       => b.toVector
  }

  private def time(l: Long, schema: Schema): Long = Option(schema.getLogicalType).map(_.getName) match {
    case Some("timestamp-millis" | "local-timestamp-millis") => l * 1000
    case _                                                   => l
  }

  private def union(value: Any, schema: Schema): Any = {
    val types   = schema.getTypes.asScala.toVector
    val notNull = types.filter(_.getType != Type.NULL)
    def branch  = types(GenericData.get.resolveUnion(schema, value))
    if (value == null) null
    else
      notNull.map(_.getType).toSet match {
        case _ if notNull.size == 1                                      => ofAvro(value, notNull.head)
        case s if s == Set(Type.INT, Type.LONG) && notNull.size == 2     => value.asInstanceOf[Number].longValue
        case s if s == Set(Type.FLOAT, Type.DOUBLE) && notNull.size == 2 =>
          Bits(java.lang.Double.doubleToRawLongBits(value.asInstanceOf[Number].doubleValue))
        case _ => notNull.zipWithIndex.map { case (t, i) =>
            s"member$i" -> (if (t eq branch) ofAvro(value, t) else null)
          }.toMap
      }
  }
}
