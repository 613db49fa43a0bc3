// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/studio/views/svg_device.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <QRegularExpression>

#include "app/draw/export.h"

namespace strata::studio {
namespace {

QString number(qreal value) { return QString::number(value, 'f', 2).remove(QRegularExpression("\\.?0+$")); }

QString escaped(const QString& text) { return QString::fromStdString(draw::escape_xml(text.toStdString())); }

QString colour(const char* what, const QColor& colour) {
  QString text = QString(" %1=\"%2\"").arg(what, colour.name());
  if (colour.alpha() < 255) text += QString(" %1-opacity=\"%2\"").arg(what, number(colour.alphaF()));
  return text;
}

QString path_data(const QPainterPath& path) {
  QString d;
  const auto point = [](const QPainterPath::Element& e) { return number(e.x) + ' ' + number(e.y) + ' '; };
  for (int i = 0; i < path.elementCount(); ++i) {
    const QPainterPath::Element& e = path.elementAt(i);
    if (e.isMoveTo()) d += 'M' + point(e);
    if (e.isLineTo()) d += 'L' + point(e);
    if (e.isCurveTo() && i + 2 < path.elementCount())
      d += 'C' + point(e) + point(path.elementAt(i + 1)) + point(path.elementAt(i + 2));
  }
  return d;
}

QColor mean(const QGradientStops& stops) {
  qreal r = 0, g = 0, b = 0, a = 0;
  for (const auto& [at, c] : stops) r += c.redF(), g += c.greenF(), b += c.blueF(), a += c.alphaF();
  const auto n = static_cast<qreal>(std::max<qsizetype>(stops.size(), 1));
  return QColor::fromRgbF(static_cast<float>(r / n), static_cast<float>(g / n), static_cast<float>(b / n),
                          static_cast<float>(a / n));
}

}  // namespace

// What is not listed is painted into a picture by QPainter, and embedded.
SvgEngine::SvgEngine(QSize size)
    : QPaintEngine(AllFeatures & ~(PatternBrush | PerspectiveTransform | ConicalGradientFill | PorterDuff)),
      size_(size) {}

bool SvgEngine::begin(QPaintDevice*) {
  out_ = QString(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"%1\" height=\"%2\" "
             "viewBox=\"0 0 %1 %2\">\n")
             .arg(size_.width())
             .arg(size_.height());
  return true;
}

bool SvgEngine::end() {
  leave();
  out_ += "</svg>\n";
  return true;
}

void SvgEngine::updateState(const QPaintEngineState& state) {
  const DirtyFlags flags = state.state();
  if (flags & DirtyTransform) transform_ = state.transform();
  if (flags & DirtyPen) pen_ = state.pen();
  if (flags & DirtyBrush) brush_ = state.brush();
  if (flags & DirtyOpacity) opacity_ = state.opacity();
  if (flags & (DirtyClipPath | DirtyClipRegion | DirtyClipEnabled)) {
    clipping_ = painter()->hasClipping();
    if (clipping_) clip_path_ = painter()->transform().map(painter()->clipPath());
  }
}

void SvgEngine::leave() {
  if (!group_.isEmpty()) out_ += "</g>\n";
  group_.clear();
}

/// The name of the clip that is valid now; empty if nothing is cut off.
QString SvgEngine::clip() {
  const QRegion system = systemClip();
  QPainterPath path;
  if (!system.isEmpty()) path.addRegion(system);
  if (clipping_) path = system.isEmpty() ? clip_path_ : path.intersected(clip_path_);
  if (system.isEmpty() && !clipping_) return {};
  const QString data = path_data(path);
  const int next = static_cast<int>(clips_.size());
  const int id = clips_.value(data, next);
  if (id == next) {
    leave();
    clips_[data] = next;
    out_ += QString("<clipPath id=\"c%1\"><path d=\"%2\"/></clipPath>\n").arg(id).arg(data);
  }
  return QString("c%1").arg(id);
}

void SvgEngine::enter() {
  QString group;
  if (const QString id = clip(); !id.isEmpty()) group = QString(" clip-path=\"url(#%1)\"").arg(id);
  if (opacity_ < 1) group += QString(" opacity=\"%1\"").arg(number(opacity_));
  if (group.isEmpty()) group = " fill=\"none\"";  // never empty: that stands for no open group
  if (group == group_) return;
  leave();
  group_ = group;
  out_ += "<g" + group + ">\n";
}

QString SvgEngine::stroke() const {
  if (pen_.style() == Qt::NoPen) return " stroke=\"none\"";
  const QColor c = pen_.brush().gradient() ? mean(pen_.brush().gradient()->stops()) : pen_.color();
  const qreal width = pen_.widthF() <= 0 ? 1 : pen_.widthF();
  QString text = colour("stroke", c) + QString(" stroke-width=\"%1\"").arg(number(width));
  if (pen_.isCosmetic()) text += " vector-effect=\"non-scaling-stroke\"";
  if (pen_.style() != Qt::SolidLine) {
    QStringList dashes;
    for (const qreal part : pen_.dashPattern()) dashes << number(part * width);
    text += QString(" stroke-dasharray=\"%1\"").arg(dashes.join(' '));
  }
  if (pen_.capStyle() == Qt::RoundCap) text += " stroke-linecap=\"round\"";
  if (pen_.joinStyle() == Qt::RoundJoin) text += " stroke-linejoin=\"round\"";
  return text;
}

QString SvgEngine::gradient(const QBrush& brush) {
  const auto* linear = static_cast<const QLinearGradient*>(brush.gradient());
  if (linear->type() != QGradient::LinearGradient || linear->coordinateMode() != QGradient::LogicalMode) return {};
  const QPointF a = brush.transform().map(linear->start()), b = brush.transform().map(linear->finalStop());
  QString text = QString("gradientUnits=\"userSpaceOnUse\" x1=\"%1\" y1=\"%2\" x2=\"%3\" y2=\"%4\">")
                     .arg(number(a.x()), number(a.y()), number(b.x()), number(b.y()));
  for (const auto& [at, c] : linear->stops())
    text += QString("<stop offset=\"%1\"%2/>").arg(number(at), colour("stop-color", c).replace("color-op", "op"));
  const int next = static_cast<int>(gradients_.size());
  const int id = gradients_.value(text, next);
  if (id == next) {
    gradients_[text] = next;
    out_ += QString("<linearGradient id=\"l%1\" %2</linearGradient>\n").arg(id).arg(text);
  }
  return QString(" fill=\"url(#l%1)\"").arg(id);
}

QString SvgEngine::fill() {
  if (brush_.style() == Qt::NoBrush) return " fill=\"none\"";
  if (!brush_.gradient()) return colour("fill", brush_.color());
  const QString name = gradient(brush_);
  return name.isEmpty() ? colour("fill", mean(brush_.gradient()->stops())) : name;
}

namespace {

QString matrix(const QTransform& t) {
  if (t.isIdentity()) return {};
  if (t.type() == QTransform::TxTranslate)
    return QString(" transform=\"translate(%1 %2)\"").arg(number(t.dx()), number(t.dy()));
  const auto exact = [](qreal v) { return QString::number(v, 'g', 8); };
  return QString(" transform=\"matrix(%1 %2 %3 %4 %5 %6)\"")
      .arg(exact(t.m11()), exact(t.m12()), exact(t.m21()), exact(t.m22()), exact(t.dx()), exact(t.dy()));
}

}  // namespace

void SvgEngine::drawPath(const QPainterPath& path) {
  if (path.isEmpty()) return;
  enter();
  const QString inside = fill();
  out_ += QString("<path%1%2%3%4 d=\"%5\"/>\n")
              .arg(inside, stroke(), path.fillRule() == Qt::OddEvenFill ? " fill-rule=\"evenodd\"" : "",
                   matrix(transform_), path_data(path));
}

void SvgEngine::drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) {
  if (count < 1) return;
  QPainterPath path(points[0]);
  for (int i = 1; i < count; ++i) path.lineTo(points[i]);
  if (mode == PolylineMode) {
    const QBrush brush = std::exchange(brush_, QBrush(Qt::NoBrush));
    drawPath(path);
    brush_ = brush;
    return;
  }
  path.closeSubpath();
  path.setFillRule(mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
  drawPath(path);
}

void SvgEngine::drawPixmap(const QRectF& to, const QPixmap& pixmap, const QRectF& from) {
  drawImage(to, pixmap.toImage(), from, Qt::AutoColor);
}

void SvgEngine::drawImage(const QRectF& to, const QImage& image, const QRectF& from, Qt::ImageConversionFlags) {
  const QImage part = image.copy(from.toAlignedRect());
  if (part.isNull()) return;
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  part.save(&buffer, "PNG");
  enter();
  out_ += QString(
              "<image%1 x=\"%2\" y=\"%3\" width=\"%4\" height=\"%5\" preserveAspectRatio=\"none\" "
              "xlink:href=\"data:image/png;base64,%6\"/>\n")
              .arg(matrix(transform_), number(to.x()), number(to.y()), number(to.width()), number(to.height()),
                   QString::fromLatin1(bytes.toBase64()));
}

void SvgEngine::drawTextItem(const QPointF& at, const QTextItem& item) {
  if (item.text().trimmed().isEmpty()) return;
  enter();
  const QFont font = item.font();
  QString style = QString(" font-family=\"%1, sans-serif\" font-size=\"%2\"")
                      .arg(escaped(font.family()), number(QFontInfo(font).pixelSize()));
  if (font.weight() > QFont::Medium) style += " font-weight=\"bold\"";
  if (font.italic()) style += " font-style=\"italic\"";
  if (item.renderFlags() & QTextItem::Underline) style += " text-decoration=\"underline\"";
  // The length is told, so that another font does not run over what stands beside it.
  out_ += QString(
              "<text%1%2%3 x=\"%4\" y=\"%5\" textLength=\"%6\" lengthAdjust=\"spacingAndGlyphs\" "
              "xml:space=\"preserve\">%7</text>\n")
              .arg(colour("fill", pen_.color()), style, matrix(transform_), number(at.x()), number(at.y()),
                   number(item.width()), escaped(item.text()));
}

int SvgDevice::metric(PaintDeviceMetric metric) const {
  switch (metric) {
    case PdmWidth:
      return size_.width();
    case PdmHeight:
      return size_.height();
    case PdmWidthMM:
      return qRound(size_.width() * 25.4 / 96);
    case PdmHeightMM:
      return qRound(size_.height() * 25.4 / 96);
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
      return 96;
    case PdmDepth:
      return 32;
    case PdmNumColors:
      return INT_MAX;
    case PdmDevicePixelRatio:
      return 1;
    case PdmDevicePixelRatioScaled:
      return static_cast<int>(devicePixelRatioFScale());
    default:
      return 0;
  }
}

}  // namespace strata::studio
